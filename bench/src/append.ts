import { parseArgs } from 'node:util';
import { measureAppends } from './measure-appends.ts';

const USAGE = `npm run bench:append [-- --seconds 3] [--rounds 3] [--json]
Rows per second of the event store's appends, beside plain inserts of as many rows into the same table with the same number
of connections, in turns; the ratio is that of the medians.`;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const positive = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new Error(`--${name} ${text} is not a positive number`);
};

if (values.help) console.log(USAGE);
else {
  const records = await measureAppends({
    path: process.env.PATH ?? '',
    dockerHost: process.env.DOCKER_HOST ?? null,
    seconds: positive('seconds', values.seconds),
    rounds: Math.ceil(positive('rounds', values.rounds)),
  });
  if (values.json) for (const record of records) console.log(JSON.stringify(record));
  else {
    console.table(
      Object.fromEntries(
        records.map(({ shape, store_rows_per_second, raw_rows_per_second, ratio }) => [
          shape,
          {
            'store rows/s': Math.round(store_rows_per_second),
            'raw rows/s': Math.round(raw_rows_per_second),
            ratio: Number(ratio.toFixed(2)),
          },
        ]),
      ),
    );
  }
}
