import pino, { type DestinationStream, type Level } from 'pino';

/** Structured logging: what happened as a sentence, what it was about as fields. Never payloads, never secrets. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  fatal(fields: object, message: string): void;
}

/** `json`: one object per line on stdout, for processes. `pretty`: one short line on stderr, for people. */
export type LogMode = 'json' | 'pretty' | 'silent';

export interface LogOptions {
  /** Name of the process or service. */
  readonly name: string;
  readonly mode: LogMode;
  /** Nothing below it is written. */
  readonly level: Level;
  /** Fields that each record gets beside its own, of which it is told. */
  readonly mixin?: (fields: object) => object;
}

const LEVELS = new Map([
  [20, 'debug'],
  [30, 'info'],
  [40, 'warn'],
  [50, 'error'],
  [60, 'fatal'],
]);
const HEAD = new Set(['level', 'time', 'name', 'msg', 'pid', 'hostname']);

/** One log record of pino as a line for people: time of day (UTC), level, name, message, fields. */
export const prettyLine = (record: string): string => {
  const fields: Readonly<Record<string, unknown>> = JSON.parse(record);
  const time = new Date(Number(fields.time)).toISOString().slice(11, 23);
  const rest = Object.entries(fields)
    .filter(([key]) => !HEAD.has(key))
    .map(([key, value]) => `${key}=${typeof value === 'string' ? value : errorText(value)}`);
  const level = LEVELS.get(Number(fields.level)) ?? 'trace';
  return `${[time, level.padEnd(5), fields.name, fields.msg, ...rest].join(' ')}\n`;
};

const errorText = (value: unknown): string =>
  typeof value === 'object' && value !== null && 'message' in value ? String(value.message) : JSON.stringify(value);

const pretty: DestinationStream = { write: (record) => void process.stderr.write(prettyLine(record)) };

/** Fields named `err` are written as errors with their stack and cause. */
export const createLog = ({ name, mode, level, mixin }: LogOptions): Log => {
  const more = mixin === undefined ? {} : { mixin };
  return mode === 'pretty'
    ? pino({ name, level, base: {}, ...more }, pretty)
    : pino({ name, level: mode === 'silent' ? 'silent' : level, ...more }, pino.destination({ fd: 1, sync: true }));
};

/** Writes nothing. */
export const silentLog: Log = createLog({ name: 'silent', mode: 'silent', level: 'fatal' });
