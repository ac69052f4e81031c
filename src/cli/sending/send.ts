import { type Command, InvalidArgumentError, Option } from 'commander';
import type { NotificationToSend } from '#client/client.ts';
import type { OptionalText } from '#contract/history/fields.ts';
import type { Labels } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import { parseDurationOrMs } from '#contract/time.ts';
import type { Io } from '../io.ts';
import { serverClient } from '../server-client.ts';
import { visibleText } from '../terminal-text.ts';
import { addDeliveryOptions, type DeliveryOptions, deliver } from './delivery.ts';

interface SendOptions extends Omit<NotificationToSend, 'title' | 'message' | 'labels'>, DeliveryOptions {
  readonly label?: Labels;
  readonly idempotencyKey?: string;
}

/** The options of optional texts: what stands for the value, and the help. */
const textOptions: Readonly<Record<Exclude<OptionalText, 'labels'>, readonly [value: string, help: string]>> =
  {
    host: ['name', 'host it is about'],
    ip: ['address', 'address it is about'],
    key: ['key', 'a later notification with the same key replaces this one on panels'],
    url: ['url', 'link to open from it'],
  };

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
    );
  for (const [name, [value, help]] of Object.entries(textOptions))
    command.option(`--${name} <${value}>`, help);
  command
    .addOption(
      new Option(
        '--label <name=value>',
        'by which it is found and routed; may be given several times',
      ).argParser(addLabel),
    )
    .option('--idempotency-key <key>', 'a notification that is sent again with the same key is stored once')
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
  { idempotencyKey, retry, spool, label: labels, ...fields }: SendOptions,
): Promise<void> {
  const server = serverClient(io, 'notify');
  const outgoing = {
    notification: {
      ...{ title, message: message === '-' ? await readAll(io) : message, ...fields },
      ...(labels && { labels }),
    },
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
  const id = await deliver(io, server, outgoing, { retry, ...(spool !== undefined && { spool }) });
  if (id !== undefined) io.stdout.write(`${visibleText(id)}\n`);
}

/** As UTF-16. Below the limit of a message, so that a body with it is not too large in any language. */
const cutChars = 15_000;

/** Stdin without the line break at its end. What is longer than a message is cut, because an alarm must not be lost by its length. */
async function readAll({ stdin, stderr }: Io): Promise<string> {
  let start = '';
  // All of it is read, so that the command before the pipe can end.
  for await (const chunk of stdin.setEncoding('utf8')) if (start.length <= limits.bodyBytes) start += chunk;
  const text = start.replace(/\r?\n$/, '');
  if (text.length <= cutChars) return text;
  stderr.write(`belfry: the message is cut to its first ${cutChars} characters\n`);
  return `${text.slice(0, cutChars - 1).toWellFormed()}…`;
}

/** The first `=` ends the name, and everything after it, commas too, is the value. A name is given once, as in the header. */
function addLabel(text: string, before: Labels = {}): Labels {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Write a name and a value, as in env=prod.');
  const name = text.slice(0, at).trim();
  if (Object.hasOwn(before, name))
    throw new InvalidArgumentError(`The label ${name} is there already: give each name once.`);
  return { ...before, ...Object.fromEntries([[name, text.slice(at + 1)]]) };
}

function readTtl(text: string): number {
  const ms = parseDurationOrMs(text);
  if (ms === undefined)
    throw new InvalidArgumentError('Write 30s, 5m, 2h, 1d, milliseconds, or 0 to keep it until cleared.');
  return ms;
}
