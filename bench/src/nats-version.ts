import { connect } from 'node:net';

const GREETING = /^INFO (\{.*\})/;

/** The version that a NATS server greets with. */
export const natsVersion = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    let greeting = '';
    socket.setTimeout(5_000, () => socket.destroy(new Error(`${url} does not greet`)));
    socket.once('error', reject);
    socket.on('data', (piece) => {
      greeting += piece.toString('utf8');
      const [, info] = GREETING.exec(greeting) ?? [];
      if (info === undefined) return;
      socket.destroy();
      const told: unknown = JSON.parse(info);
      resolve(typeof told === 'object' && told !== null && 'version' in told ? String(told.version) : 'unknown');
    });
  });
