import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Alarm } from '#contract/history/alarm.ts';
import { type StandingState, standingStates } from '#contract/history/alarm-states.ts';
import { limits } from '#contract/limits.ts';
import { ageText } from '#contract/time.ts';
import type { Io } from '../io.ts';
import { jsonOption, readWords } from '../options.ts';
import { serverClient } from '../server-client.ts';
import { briefTime, cutText, table, visibleText } from '../terminal-text.ts';

interface ListOptions {
  readonly query?: string;
  readonly state?: readonly StandingState[];
  readonly limit: number;
  readonly json?: boolean;
}

/** `belfry alarms`: what stands now. */
export function addAlarms(program: Command, io: Io): void {
  program
    .command('alarms')
    .summary('list the alarms that stand now')
    .description(
      'list the alarms of the server at BELFRY_URL that have not ended, the highest level first; BELFRY_TOKEN is an automation key',
    )
    .option('-q, --query <query>', 'only alarms whose newest notification matches this search')
    .addOption(
      new Option(
        '--state <states>',
        `states, separated by commas: ${standingStates.join(', ')} (default: open,acknowledged)`,
      ).argParser((text) => readWords(text, standingStates)),
    )
    .addOption(
      new Option('--limit <number>', `how many at the most, up to ${limits.alarmPage}`)
        .argParser(readLimit)
        .default(100),
    )
    .addOption(jsonOption('one alarm a line, as the API has it'))
    .addHelpText(
      'after',
      `\nExamples:\n  ${io.program} alarms --query "host:db-* level:>=error"\n  ${io.program} alarms --state suppressed\n  ${io.program} alarms --state open --json | jq -r .id`,
    )
    .action((options: ListOptions) => list(io, options));
}

async function list(io: Io, { query, state, limit, json }: ListOptions): Promise<void> {
  const { alarms, nextCursor } = await serverClient(io, 'viewer').ask((client) =>
    client.alarms({
      limit,
      ...(query !== undefined && { q: query }),
      ...(state && { state: state.join(',') }),
    }),
  );
  if (alarms.length === 0) io.stderr.write('belfry: no alarms\n');
  else if (json) io.stdout.write(alarms.map((alarm) => `${JSON.stringify(alarm)}\n`).join(''));
  else io.stdout.write(tableOf(alarms, Date.now()));
  if (nextCursor !== null)
    io.stderr.write('belfry: there are more: set --limit, or find fewer with --query\n');
}

/** Columns of a title and of a note; `--json` has them whole. */
const mostColumns = 60;

function tableOf(alarms: readonly Alarm[], now: number): string {
  const headings = ['LEVEL', 'TITLE', 'HOST', 'COUNT', 'AGE', 'WHO', 'ID'];
  return table(
    headings,
    alarms.map((alarm) => [
      alarm.level,
      cutText(visibleText(alarm.title), mostColumns),
      alarm.host ?? '-',
      `×${alarm.count}`,
      ageText(Math.max(0, now - Date.parse(alarm.since))),
      cutText(visibleText(whoOf(alarm)), mostColumns),
      alarm.id,
    ]),
  );
}

/** Who takes care of it, or why it is off the panels; the owner first. */
function whoOf({ acknowledged, shelved, suppressedBy, owner }: Alarm): string {
  const given = shelved ?? acknowledged;
  const words = owner ? [`owner ${owner.name}`] : [];
  if (suppressedBy) words.push(`suppressed by ${suppressedBy.title || suppressedBy.id}`);
  if (given) {
    const until = given.until === null ? '' : ` until ${briefTime(given.until)}`;
    const note = given.note === null ? '' : `: ${given.note}`;
    words.push(`${shelved ? 'shelved by ' : ''}${given.by}${until}${note}`);
  }
  return words.join(', ') || '-';
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > limits.alarmPage)
    throw new InvalidArgumentError(`Write a whole number from 1 to ${limits.alarmPage}.`);
  return limit;
}
