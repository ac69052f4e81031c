/** `belfry export`, `diff` and `apply`, once one of them is called. */
import { createInterface } from 'node:readline';
import { configurationSchema, sections } from '#contract/configuration.ts';
import { EndedWith, errorMessage, Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { applyPlan, readCurrent } from './apply.ts';
import { type ReadyChannels, readyChannels } from './channels.ts';
import { type Connection, type ConnectionOptions, withConnection } from './connection.ts';
import { effectOf } from './effect.ts';
import { type Current, singular } from './entries.ts';
import { type ConfigurationFile, parseConfiguration, readFileText } from './file.ts';
import { isEmptyPlan, type Plan, planOf, prunedNames } from './plan.ts';
import {
  prunedTargetLines,
  requireKnownNames,
  requireReadable,
  requireUnused,
  unmatchedLines,
} from './preconditions.ts';
import { configurationOf, extraLine, leftOutLines, planLines, yamlOf } from './text.ts';

export interface ExportOptions extends ConnectionOptions {
  readonly schema?: boolean;
}

export interface DiffOptions extends ConnectionOptions {
  readonly prune?: boolean;
}

export interface ApplyOptions extends DiffOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export async function exportConfiguration(io: Io, { schema, ...options }: ExportOptions): Promise<void> {
  if (schema) {
    io.stdout.write(`${JSON.stringify(configurationSchema(), null, 2)}\n`);
    return;
  }
  const current = await withConnection(io, { ...options, makes: false }, readCurrent);
  const configuration = yamlOf(configurationOf(current));
  warn(io, leftOutLines(current));
  io.stdout.write(configuration);
}

/** Ends with 1 when there is a difference, and with 2 when it failed, as diff does. */
export async function diffConfiguration(io: Io, path: string, options: DiffOptions): Promise<void> {
  const prune = options.prune === true;
  let plan: Plan;
  try {
    const file = await readFile(io, path);
    plan = await withConnection(io, { ...options, makes: false }, async (connection) => {
      const planned = await planFor(io, connection, { file, prune });
      await show(io, connection, planned);
      return planned.plan;
    });
  } catch (error) {
    throw new Failure(errorMessage(error).lines.join('\n'), 2);
  }
  if (!isEmptyPlan(plan, prune)) throw new EndedWith(1);
}

export async function applyConfiguration(io: Io, path: string, options: ApplyOptions): Promise<void> {
  const prune = options.prune === true;
  const file = await readFile(io, path);
  await withConnection(io, { ...options, makes: !options.dryRun }, async (connection) => {
    const planned = await planFor(io, connection, { file, prune });
    const { plan, channels } = planned;
    await show(io, connection, planned);
    if (isEmptyPlan(plan, prune) || options.dryRun) return;
    if (prune && !options.yes) await confirmDeletion(io, prunedNames(plan, singular));
    await applyPlan(connection, plan, { file, prune, values: channels.values });
    io.stdout.write(`${summaryOf(plan, prune)}\n`);
  });
}

async function readFile(io: Io, path: string): Promise<ConfigurationFile> {
  return parseConfiguration(await readFileText(path, io.stdin), path === '-' ? 'stdin' : path);
}

interface Wanted {
  readonly file: ConfigurationFile;
  readonly prune: boolean;
}

interface Planned extends Wanted {
  readonly plan: Plan;
  readonly current: Current;
  readonly channels: ReadyChannels;
}

/** @throws Failure with line and column of a mistake: nothing has been changed then. */
async function planFor(io: Io, connection: Connection, { file, prune }: Wanted): Promise<Planned> {
  const current = await readCurrent(connection);
  const channels = await readyChannels(connection, { file, current, env: io.env });
  const plan = planOf(file.configuration, current, channels);
  if (prune) requireUnused(plan, current, file);
  await requireKnownNames(plan, current, { file, prune });
  await requireReadable(plan, current, file);
  return { plan, current, channels, file, prune };
}

async function show(io: Io, connection: Connection, planned: Planned): Promise<void> {
  const { plan, current, channels, file, prune } = planned;
  const effect = await effectOf(connection, plan, current, { file, prune });
  const lines = planLines(plan, prune);
  io.stdout.write(lines.length === 0 ? 'No changes.\n' : `${[...lines, ...effect].join('\n')}\n`);
  const extra = prune ? undefined : extraLine(plan, io.program);
  warn(io, channels.notes);
  warn(io, await unmatchedLines(plan, current, prune));
  warn(io, prune ? prunedTargetLines(plan, current) : extra === undefined ? [] : [extra]);
}

function warn(io: Io, lines: readonly string[]): void {
  for (const line of lines) io.stderr.write(`belfry: ${line}\n`);
}

async function confirmDeletion(io: Io, names: readonly string[]): Promise<void> {
  if (names.length === 0) return;
  if (!io.stdin.isTTY) throw new Failure('--prune deletes: without a terminal to ask at, it needs --yes', 2);
  io.stderr.write(`Delete ${names.length} from the server, for good? [y/N] `);
  const input = createInterface({ input: io.stdin });
  try {
    for await (const answer of input) {
      if (/^y(es)?$/i.test(answer.trim())) return;
      break;
    }
  } finally {
    input.close();
  }
  throw new Failure('nothing was changed');
}

function summaryOf(plan: Plan, prune: boolean): string {
  const all = sections.map((section) => plan[section]);
  const sum = (count: (each: (typeof all)[number]) => number) =>
    all.reduce((total, each) => total + count(each), 0);
  const deleted = prune ? sum(({ extra }) => extra.length) : 0;
  return `Applied: ${sum(({ created }) => created.length)} created, ${sum(({ updated }) => updated.length)} changed, ${deleted} deleted.`;
}
