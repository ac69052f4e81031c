/** `belfry ack`, `unack`, `assign`, `shelve`, `unshelve` and `clear`: what people do about alarms. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AlarmAction, AlarmActionsDone } from '#contract/history/alarm.ts';
import { type StandingState, standingStates } from '#contract/history/alarm-states.ts';
import { EndedWith, Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { readTimeSpan } from '../options.ts';
import { serverClient } from '../server-client.ts';
import { briefTime, visibleText } from '../terminal-text.ts';
import { getMember } from './member.ts';

interface ActionOptions {
  readonly query?: string;
  readonly note?: string;
  /** Milliseconds from now. */
  readonly for?: number;
  /** Unix milliseconds. */
  readonly until?: number;
  readonly take?: boolean;
  /** The name or the mail address of a member. */
  readonly to?: string;
  readonly nobody?: boolean;
}

interface ActionCommand {
  readonly name: string;
  readonly action: AlarmAction;
  readonly summary: string;
  readonly description: string;
  /** As in "40 acknowledged". */
  readonly done: string;
  /** The states in which a search finds alarms to change. */
  readonly states: (options: ActionOptions) => readonly StandingState[];
  readonly options: readonly Option[];
  readonly example: string;
  /** What BELFRY_TOKEN is; default: a member's key. */
  readonly token?: string;
}

const noteOption = () => new Option('--note <text>', 'for the others, as in "on my way"');
const forOption = (what: string) => new Option('--for <duration>', what).argParser(readTimeSpan);

const commands: readonly ActionCommand[] = [
  {
    name: 'ack',
    action: 'acknowledge',
    summary: 'acknowledge alarms',
    description: 'acknowledge alarms, so that every panel shows who takes care of them',
    done: 'acknowledged',
    states: ({ take }) => (take ? ['open', 'acknowledged'] : ['open']),
    options: [
      noteOption(),
      forOption(
        'they are open again after this time: 30m, 4h, 1d; 0: never (default: as the rule or the level says)',
      ).argParser((text) => (text === '0' ? 0 : readTimeSpan(text))),
      new Option('--take', 'also what somebody else has acknowledged, in their place'),
    ],
    token: 'an automation key with the role member, or, with one id, a token with the panel scope',
    example: 'ack 0199c0de-7abc-7def-8123-456789abcdef --note "on my way" --for 4h',
  },
  {
    name: 'unack',
    action: 'unacknowledge',
    summary: 'take acknowledgements back',
    description: 'take acknowledgements back: the alarms are open again',
    done: 'open again',
    states: () => ['acknowledged'],
    options: [],
    example: 'unack --query host:db-01',
  },
  {
    name: 'assign',
    action: 'assign',
    summary: 'name the owner of alarms',
    description:
      'name the owner of alarms: who is to take care of them. An alarm stays open until somebody acknowledges it',
    done: 'assigned',
    states: () => standingStates,
    options: [
      new Option('--to <person>', 'a member of the tenant, by mail address or by name'),
      new Option('--nobody', 'they have no owner any more'),
    ],
    example: 'assign 0199c0de-7abc-7def-8123-456789abcdef --to ada@example.org',
  },
  {
    name: 'shelve',
    action: 'shelve',
    summary: 'take alarms off the panels until a time',
    description:
      'take alarms off the panels until a time, also when they repeat; a repeat with a higher level comes back at once',
    done: 'shelved',
    states: () => ['open', 'acknowledged', 'suppressed'],
    options: [
      forOption('for this time: 30m, 4h, 1d'),
      new Option(
        '--until <time>',
        'until 2026-11-02T06:00Z; without Z or an offset, in local time',
      ).argParser(readTime),
      noteOption(),
    ],
    example: 'shelve --query "host:db-* title:backup" --for 4h --note "maintenance"',
  },
  {
    name: 'unshelve',
    action: 'unshelve',
    summary: 'bring shelved alarms back to the panels',
    description: 'bring shelved alarms back to the panels, before their time is over',
    done: 'open again',
    states: () => ['shelved'],
    options: [],
    example: 'unshelve --query "host:db-*"',
  },
  {
    name: 'clear',
    action: 'clear',
    summary: 'end alarms',
    description: 'end alarms: they leave every panel; history keeps them',
    done: 'cleared',
    states: () => standingStates,
    options: [noteOption()],
    example: 'clear --query "is:acknowledged host:db-01" --note "repaired"',
  },
];

export function addAlarmActions(program: Command, io: Io): void {
  for (const each of commands) {
    const command = program
      .command(each.name)
      .summary(each.summary)
      .description(
        `${each.description}. BELFRY_TOKEN is ${each.token ?? 'an automation key with the role member'}`,
      )
      .argument('[id...]', 'ids of their notifications, as belfry send and belfry alarms print them')
      .option('-q, --query <query>', `all ${statesText(each)} alarms that match this search`);
    for (const option of each.options) command.addOption(option);
    command
      .addHelpText('after', `\nExample:\n  ${io.program} ${each.example}`)
      .action((ids: string[], options: ActionOptions) => run(io, each, ids, options));
  }
}

const statesFormat = new Intl.ListFormat('en', { type: 'disjunction' });
const statesText = ({ states }: ActionCommand) => statesFormat.format(states({}));

async function run(
  io: Io,
  command: ActionCommand,
  ids: readonly string[],
  options: ActionOptions,
): Promise<void> {
  const { action } = command;
  requireOne(io, command, [ids.length > 0, options.query !== undefined], 'ids or --query');
  if (action === 'shelve')
    requireOne(io, command, [options.for !== undefined, options.until !== undefined], '--for or --until');
  if (action === 'assign')
    requireOne(io, command, [options.to !== undefined, options.nobody === true], '--to or --nobody');
  const [only] = ids;
  if (action === 'acknowledge' && only !== undefined && ids.length === 1)
    return acknowledgeOne(io, only, options);
  const server = serverClient(io, 'member');
  const owner = options.to === undefined ? undefined : await getMember(server, options.to);
  const done = await server.ask((client) =>
    client.actOnAlarms({
      action,
      ...(options.query === undefined
        ? { ids: [...ids] }
        : { q: options.query, state: [...command.states(options)] }),
      ...bodyOf(options),
      ...(action === 'assign' && { userId: owner?.id ?? null }),
    }),
  );
  report(io, command, done, action === 'assign' ? ` to ${owner ? visibleText(owner.name) : 'nobody'}` : '');
}

/** @throws Failure unless exactly one of the two was given. */
function requireOne(
  io: Io,
  { name }: ActionCommand,
  [first, second]: readonly [boolean, boolean],
  what: string,
): void {
  if (first === second) throw new Failure(`give either ${what}; see ${io.program} ${name} --help`, 2);
}

const bodyOf = ({ note, for: forMs, until: untilMs, take }: ActionOptions) => ({
  ...(note !== undefined && { note }),
  ...(forMs !== undefined && { forMs }),
  ...(untilMs !== undefined && { untilMs }),
  ...(take && { take }),
});

/** @throws EndedWith 1 when not all were changed. */
function report(io: Io, command: ActionCommand, { done, failed }: AlarmActionsDone, whom: string): void {
  if (done + failed.length === 0) throw new Failure(`no ${statesText(command)} alarm matches`);
  const reasons = failed.map(({ id, error }) => `${visibleText(id)} ${visibleText(error)}`);
  const tail =
    reasons.length === 0
      ? ''
      : `, ${reasons.length} failed:${reasons.length === 1 ? ' ' : '\n'}${reasons.join('\n')}`;
  io.stdout.write(`${done} ${command.done}${whom}${tail}\n`);
  if (failed.length > 0) throw new EndedWith(1);
}

/** One alarm, which a token of a panel may acknowledge too. It is no failure that somebody was first. */
async function acknowledgeOne(io: Io, id: string, options: ActionOptions): Promise<void> {
  const answer = await serverClient(io, 'panel').ask((client) =>
    client.acknowledgeAlarm(id, bodyOf(options)),
  );
  const { by, at, until } = answer.acknowledged;
  const end = until === null ? '' : ` until ${briefTime(until)}`;
  const replaced = answer.id === id.toLowerCase() ? '' : ` (${visibleText(answer.id)} has replaced it)`;
  io.stdout.write(
    answer.first
      ? `acknowledged${end}${replaced}\n`
      : `already acknowledged by ${visibleText(by)} at ${visibleText(at)}${end}${replaced}\n`,
  );
}

function readTime(text: string): number {
  const isTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/.test(text);
  const at = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('Write a date and a time, as in 2026-11-02T06:00Z.');
  if (at <= Date.now()) throw new InvalidArgumentError('It must be in the future.');
  return at;
}
