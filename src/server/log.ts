/** Log lines go to stderr: stdout is for the output of commands and for the first steps of a new server. */
import { createRequire } from 'node:module';
import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

export interface LogOptions {
  readonly level: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  /** `auto`: pretty on a terminal, JSON elsewhere. */
  readonly format: 'auto' | 'pretty' | 'json';
}

const stderrFd = 2;

/** Headers that carry a credential, at each place of a log line where request headers may appear. */
const credentials = [
  'authorization',
  'cookie',
  '["set-cookie"]',
  '["x-gotify-key"]',
  '["x-gitlab-token"]',
].flatMap((header) =>
  ['', 'headers', 'req.headers', 'res.headers', 'request.headers', 'err.headers'].map((owner) =>
    header.startsWith('[') || owner === '' ? `${owner}${header}` : `${owner}.${header}`,
  ),
);

interface Destination {
  write(line: string): void;
}

/** A logger whose lines never hold a credential from a header. Each line is written before the call returns. */
export function createLogger(
  { level, format }: LogOptions,
  file: Destination = pino.destination({ fd: stderrFd, sync: true }),
): Logger {
  const isTerminal = Boolean(process.stderr.isTTY);
  const options = { level, redact: { paths: credentials, censor: '[redacted]' } };
  if (format === 'json' || (format === 'auto' && !isTerminal)) return pino(options, file);
  // Loaded only here: a service writes JSON.
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  const print = prettyFactory({
    colorize: isTerminal,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname',
  });
  return pino(options, { write: (line: string) => void file.write(print(line)) });
}
