import { type Command, InvalidArgumentError, Option } from 'commander';
import type { NotificationToSend } from '#client/client.ts';
import { parseDurationOrMs } from '#contract/duration.ts';
import { addDeliveryOptions, type DeliveryOptions, deliver } from './delivery.ts';
import type { Io } from './io.ts';
import { serverClient } from './server-client.ts';

interface SendOptions extends Omit<NotificationToSend, 'title' | 'message'>, DeliveryOptions {
  readonly idempotencyKey?: string;
}

/** `belfry send`: one notification. */
export function addSend(program: Command, io: Io): void {
  const command = program
    .command('send')
    .summary('send a notification')
    .description(
      'send a notification to the server at BELFRY_URL, with the token in BELFRY_TOKEN; prints its id',
    )
    .argument('<title>', 'short summary')
    .argument('<message>', 'the full text; - reads it from stdin')
    .option(
      '-l, --level <level>',
      'success, info, warning, error, critical or one of your own (default: info)',
    )
    .addOption(
      new Option(
        '--ttl <duration>',
        'how long panels show it: 30s, 5m, or milliseconds; 0 stays until cleared',
      ).argParser(readTtl),
    )
    .option('--host <name>', 'host it is about')
    .option('--ip <address>', 'address it is about')
    .option('--key <key>', 'a later notification with the same key replaces this one on panels')
    .option('--url <url>', 'link to open from it')
    .option('--idempotency-key <key>', 'sent again with the same key, it is stored once')
    .addHelpText(
      'after',
      `\nExamples:\n  ${io.program} send "Backup" "finished in 38 minutes" --level success --host db-01\n  df -h | ${io.program} send "Disks" - --spool ~/.belfry-spool`,
    );
  addDeliveryOptions(command).action((title: string, message: string, options: SendOptions) =>
    send(io, title, message, options),
  );
}

async function send(
  io: Io,
  title: string,
  message: string,
  { idempotencyKey, retry, spool, ...fields }: SendOptions,
): Promise<void> {
  const server = serverClient(io, 'notify');
  const text = message === '-' ? await readAll(io.stdin) : message;
  const outgoing = {
    notification: { title, message: text, ...fields },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
  const id = await deliver(io, server, outgoing, { retry, ...(spool !== undefined && { spool }) });
  if (id !== undefined) io.stdout.write(`${id}\n`);
}

/** All of stdin, without the line break at its end. */
async function readAll(stdin: Io['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}

function readTtl(text: string): number {
  const ms = parseDurationOrMs(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write 30s, 5m, 2h, 1d, milliseconds, or 0 to keep it until cleared.');
  return ms;
}
