import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes whatever it is sent, as a collector does, in a process of its own; says where it listens, then what it took. */
let bytes = 0;
const server = createServer((request, response) => {
  request.on('data', (piece: Buffer) => {
    bytes += piece.length;
  });
  request.on('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end());
});
server.listen(0, '127.0.0.1', () => {
  // A server on TCP has an address of this kind.
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.on('SIGTERM', () => {
  console.log(String(bytes));
  process.exit(0);
});
