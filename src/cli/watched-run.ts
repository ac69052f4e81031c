import { type ChildProcess, spawn } from 'node:child_process';
import { constants, hostname } from 'node:os';
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { addDeliveryOptions, type DeliveryOptions, deliver } from './delivery.ts';
import { EndedWith, Failure } from './failure.ts';
import type { Io } from './io.ts';
import { serverClient } from './server-client.ts';
import { visibleText } from './terminal-text.ts';

interface RunOptions extends DeliveryOptions {
  readonly title?: string;
  readonly level: string;
  readonly key?: string;
  readonly always?: true;
  readonly lines: number;
}

/** `belfry run -- COMMAND`: runs a command, and sends a notification when it fails. */
export function addRun(program: Command, io: Io): void {
  const command = program
    .command('run')
    .summary('run a command and notify when it fails')
    .description(
      'run a command, and send a notification with its exit code, duration and last lines when it fails; ends with its exit code',
    )
    .argument('<command...>', 'the command and its arguments, behind --')
    .option('--title <title>', 'what it is called in the notification (default: the command)')
    .option('-l, --level <level>', 'level of a failure', 'error')
    .option(
      '--key <key>',
      'a later run with the same key replaces this one on panels (default: host and title)',
    )
    .option('--always', 'also notify when it succeeds, which replaces its failure on panels')
    .addOption(
      new Option('--lines <number>', 'how many of the last lines to send').argParser(readLines).default(20),
    )
    .passThroughOptions()
    .addHelpText(
      'after',
      `\nExamples:\n  ${io.program} run -- pg_dump -f shop.sql shop\n  ${io.program} run --always --title "Nightly backup" --spool /var/spool/belfry -- /usr/local/bin/backup`,
    );
  addDeliveryOptions(command).action((words: string[], options: RunOptions) =>
    runAndTell(io, words, options),
  );
}

async function runAndTell(io: Io, words: readonly string[], options: RunOptions): Promise<void> {
  // A missing setting is an error before the command runs.
  const server = serverClient(io, 'notify');
  const { code, seconds, lines } = await runCommand(io, words, options.lines);
  if (code !== 0 || options.always) {
    const title = (options.title ?? basename(words[0] ?? '')).slice(0, 200);
    const host = hostname();
    const notification = {
      title: code === 0 ? `${title} succeeded` : `${title} failed`,
      message:
        `Exit code ${code} after ${seconds} s.\n${lines.join('\n').slice(-15_000).toWellFormed()}`.trim(),
      level: code === 0 ? 'success' : options.level,
      host,
      key: options.key ?? `run:${host}:${title}`.slice(0, 255),
    };
    try {
      await deliver(io, server, { notification }, options);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      io.stderr.write(`belfry: not notified: ${visibleText(reason)}\n`);
    }
  }
  if (code !== 0) throw new EndedWith(code);
}

interface Ended {
  readonly code: number;
  readonly seconds: number;
  /** The last lines of its output and errors, as they came. */
  readonly lines: readonly string[];
}

/** Its output goes on to ours. @throws Failure when it cannot be started. */
async function runCommand(io: Io, [file = '', ...args]: readonly string[], count: number): Promise<Ended> {
  const beganAt = performance.now();
  const child = spawn(file, args, { stdio: ['inherit', 'pipe', 'pipe'] });
  const lines = new LastLines(count);
  child.stdout.on('data', (chunk: Buffer) => lines.add(chunk)).pipe(io.stdout, { end: false });
  child.stderr.on('data', (chunk: Buffer) => lines.add(chunk)).pipe(io.stderr, { end: false });
  const forget = io.onSignal(() => child.kill('SIGTERM'));
  try {
    const code = await endOf(child, file);
    return { code, seconds: Math.round((performance.now() - beganAt) / 100) / 10, lines: lines.all() };
  } finally {
    forget();
  }
}

/** The exit code that a shell gives: for a signal, 128 plus its number. */
function endOf(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(new Failure(`cannot run ${file} (${error.code ?? error.message})`)),
    );
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** The end of a text of any length, in little memory. */
class LastLines {
  readonly #count: number;
  #text = '';

  constructor(count: number) {
    this.#count = count;
  }

  add(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString('utf8')).slice(-64 * 1024);
  }

  all(): string[] {
    const lines = this.#text.replace(/\n$/, '').split('\n');
    return this.#count === 0 ? [] : lines.slice(-this.#count).map(plainLine);
  }
}

/** Without colours, and of a progress bar its last state. */
function plainLine(line: string): string {
  const shown = stripVTControlCharacters(line.replace(/\r+$/, '')).split('\r').at(-1) ?? '';
  return shown.replace(/[^\P{Cc}\t]/gu, '');
}

function readLines(text: string): number {
  if (/^\d{1,3}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Write a whole number up to 999.');
}
