import { type ChildProcess, spawn } from 'node:child_process';
import { constants, hostname } from 'node:os';
import { basename } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { durationText } from '#contract/time.ts';
import { EndedWith, errorMessage } from '../failure.ts';
import type { Io } from '../io.ts';
import { type ServerClient, serverClient } from '../server-client.ts';
import { visibleText } from '../terminal-text.ts';
import { addDeliveryOptions, type DeliveryOptions, deliver } from './delivery.ts';

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
      'run a command, and send a notification with its exit code, duration and last lines when it fails; ends with its exit code, or 127 if there is no such command, 126 if it cannot be run',
    )
    .argument('<command...>', 'the command and its arguments, after --')
    .option('--title <title>', 'name of the command in the notification (default: the command itself)')
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
  const server = findServer(io);
  const { code, tookMs, lines } = await runCommand(io, words, options.lines);
  if (server && (code !== 0 || options.always)) {
    const title = (options.title ?? basename(words[0] ?? '')).slice(0, 200).toWellFormed();
    const host = hostname();
    const notification = {
      title: code === 0 ? `${title} succeeded` : `${title} failed`,
      message:
        `Exit code ${code} after ${durationText(tookMs)}.\n${lines.join('\n').slice(-15_000).toWellFormed()}`.trim(),
      level: code === 0 ? 'success' : options.level,
      host,
      key: options.key ?? `run:${host}:${title}`.slice(0, 255).toWellFormed(),
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

/** Undefined, with the reasons on stderr, when a setting is missing or wrong: the command must run all the same. */
function findServer(io: Io): ServerClient | undefined {
  try {
    return serverClient(io, 'notify');
  } catch (error) {
    for (const line of errorMessage(error).lines) io.stderr.write(`belfry: nothing is notified: ${line}\n`);
    return undefined;
  }
}

interface Ended {
  readonly code: number;
  readonly tookMs: number;
  /** The last lines of its output and errors, as they came. */
  readonly lines: readonly string[];
}

/** Its output goes on to ours. If it cannot be started, the code is that of a shell, and its only line is the reason. */
async function runCommand(io: Io, [file = '', ...args]: readonly string[], count: number): Promise<Ended> {
  const beganAt = performance.now();
  const lines = new LastLines(count);
  let forget: (() => void) | undefined;
  try {
    const child = spawn(file, args, { stdio: ['inherit', 'pipe', 'pipe'] });
    passOn(child.stdout, io.stdout, lines);
    passOn(child.stderr, io.stderr, lines);
    // Ctrl-C in a terminal reaches the command without us, and many commands take a second one as "at once".
    forget = io.onSignal((signal) => (signal === 'SIGINT' && io.stdin.isTTY) || child.kill(signal));
    const code = await endOf(child);
    return { code, tookMs: performance.now() - beganAt, lines: lines.all() };
  } catch (error) {
    const { code, reason } = startProblem(error, file);
    io.stderr.write(`belfry: ${visibleText(reason)}\n`);
    return { code, tookMs: 0, lines: [plainLine(reason)] };
  } finally {
    forget?.();
  }
}

/** When nobody reads our output any more, the command's next write fails, as it would without us. */
function passOn(from: Readable, to: Writable, lines: LastLines): void {
  from.on('data', (chunk: Buffer) => lines.add(chunk)).pipe(to, { end: false });
  to.once('error', () => from.destroy());
}

/** The exit code that a shell gives: for a signal, 128 plus its number. Rejects when the command cannot be started. */
function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** As a shell has it, 127 if there is no such command, otherwise 126. */
function startProblem(error: unknown, file: string): { code: number; reason: string } {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || !syscall?.startsWith('spawn')) throw error;
  if (code === 'ENOENT') return { code: 127, reason: `cannot run ${file}: there is no such command` };
  const why = code === 'EACCES' ? 'it is not executable' : code;
  return { code: 126, reason: `cannot run ${file}: ${why}` };
}

/** The end of a text of any length, in little memory. */
class LastLines {
  readonly #count: number;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(count: number) {
    this.#count = count;
  }

  add(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-64 * 1024);
  }

  all(): string[] {
    const lines = this.#bytes.toString('utf8').replace(/\n$/, '').split('\n');
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
