/**
 * What a plan must fulfil before anything is changed: names that rules need, searches that can be read, nothing deleted
 * that is in use.
 */
import { type KnownNames, knownNames, levelsOf } from '#contract/routing/rule-names.ts';
import { Failure } from '../failure.ts';
import { visibleText } from '../terminal-text.ts';
import { type Current, Names, type Path, type WholeRule } from './entries.ts';
import type { ConfigurationFile } from './file.ts';
import type { Plan } from './plan.ts';

interface StayingRule {
  readonly rule: WholeRule;
  /** Its place in the file, if it is there. */
  readonly index: number | undefined;
}

function stayingRules(plan: Plan, current: Current): StayingRule[] {
  const names = new Names(current);
  const pruned = new Set(plan.rules.extra.map(({ name }) => name));
  return plan.order.flatMap(({ name, known, entry, index }) => {
    const rule = entry ?? (known && names.ruleEntry(known));
    return rule === undefined || pruned.has(name) ? [] : [{ rule, index }];
  });
}

/** A panel, channel or on-call schedule that a rule names and --prune deletes. */
interface PrunedTarget {
  readonly kind: 'panel' | 'channel' | 'on-call schedule';
  readonly name: string;
  /** In the rule. */
  readonly place: Path;
}

function prunedTargets({ panels, channels, onCall }: Plan, { then }: WholeRule): PrunedTarget[] {
  const pruned = {
    panel: new Set(panels.extra.map(({ name }) => name)),
    channel: new Set(channels.extra.map(({ name }) => name)),
    'on-call schedule': new Set(onCall.extra.map(({ name }) => name)),
  };
  const steps = then.escalate ?? [];
  const named = [
    ...panelsAt(then, ['then']),
    ...steps.flatMap((step, i) => panelsAt(step, ['then', 'escalate', i])),
    ...(then.channels ?? []).map((name, i) => ({
      kind: 'channel' as const,
      name,
      place: ['then', 'channels', i],
    })),
    ...(then.onCall === undefined
      ? []
      : [{ kind: 'on-call schedule' as const, name: then.onCall, place: ['then', 'onCall'] }]),
  ];
  return named.filter(({ kind, name }) => pruned[kind].has(name));
}

function panelsAt({ panels }: Pick<WholeRule['then'], 'panels'>, place: Path): PrunedTarget[] {
  if (typeof panels !== 'object' || !('names' in panels)) return [];
  return panels.names.map((name, i) => ({ kind: 'panel', name, place: [...place, 'panels', 'names', i] }));
}

const verbs = { panel: 'chooses', channel: 'names', 'on-call schedule': 'names' } as const;

/** Rules that are only on the server, stay, and choose a panel, or name a channel, which --prune deletes: as lines for people. */
export function prunedTargetLines(plan: Plan, current: Current): string[] {
  const lines = stayingRules(plan, current).flatMap(({ rule }) =>
    prunedTargets(plan, rule).map(
      ({ kind, name }) =>
        `rule "${visibleText(rule.name)}" ${verbs[kind]} ${kind} "${visibleText(name)}", which is deleted`,
    ),
  );
  return [...new Set(lines)];
}

/**
 * @throws Failure when --prune would delete what is still named: a level or an on-call schedule, or a panel or channel that a rule
 * of the file names.
 */
export function requireUnused(plan: Plan, current: Current, file: ConfigurationFile): void {
  requireUnusedLevels(plan, current, file);
  requireUnusedTargets(plan, current, file);
}

/**
 * Such a file could not be applied a second time. Rules that are only on the server may lose theirs, except an on-call schedule,
 * which the server refuses to delete.
 */
function requireUnusedTargets(plan: Plan, current: Current, file: ConfigurationFile): void {
  for (const { rule, index } of stayingRules(plan, current)) {
    const targets = prunedTargets(plan, rule);
    if (index === undefined) {
      const schedule = targets.find(({ kind }) => kind === 'on-call schedule');
      if (!schedule) continue;
      const message = `rule "${rule.name}" names the on-call schedule "${schedule.name}", which --prune would delete`;
      throw new Failure(visibleText(`${message}: add the schedule to the file`), 2);
    }
    const [target] = targets;
    if (!target) continue;
    throw file.problem(
      ['rules', index, ...target.place],
      `--prune would delete the ${target.kind} "${target.name}": add it to the file, or take it out of the rule`,
    );
  }
}

/** The server refuses to delete a level that a rule or a panel names. */
function requireUnusedLevels(plan: Plan, current: Current, file: ConfigurationFile): void {
  const pruned = new Set(plan.levels.extra.map(({ name }) => name));
  if (pruned.size === 0) return;
  const sentence = (level: string, what: string) =>
    `${what} names the level "${level}", which --prune would delete: add the level to the file`;
  for (const { rule, index } of stayingRules(plan, current)) {
    const level = levelsOf(rule).find((each) => pruned.has(each));
    if (level === undefined) continue;
    const message = sentence(level, `rule "${rule.name}"`);
    throw index === undefined
      ? new Failure(visibleText(message), 2)
      : file.problem(['rules', index], message);
  }
  const deleted = new Set(plan.panels.extra.map(({ name }) => name));
  const changed = new Map(
    [...plan.panels.created, ...plan.panels.updated].map(({ entry }) => [entry.name, entry.display]),
  );
  for (const { name, display } of current.panels) {
    if (deleted.has(name)) continue;
    const { minLevel } = { ...display, ...changed.get(name) };
    if (minLevel && pruned.has(minLevel))
      throw new Failure(visibleText(sentence(minLevel, `panel "${name}"`)), 2);
  }
}

/** The names that there will be. */
function namesAfter({ levels }: Plan, current: Current, prune: boolean): KnownNames {
  const deleted = new Set(prune ? levels.extra.map(({ name }) => name) : []);
  const all = [...current.levels, ...levels.created.map(({ entry }) => entry)];
  return knownNames(
    all.filter(({ name }) => !deleted.has(name)),
    current.tokens,
  );
}

/** @throws Failure with line and column of each name that the server would refuse. Nothing has been changed then. */
export async function requireKnownNames(
  plan: Plan,
  current: Current,
  { file, prune }: { readonly file: ConfigurationFile; readonly prune: boolean },
): Promise<void> {
  const { refusedName } = await import('#server/app.ts');
  const known = namesAfter(plan, current, prune);
  const problems = plan.order.flatMap(({ name, known: before, entry, index }) => {
    if (entry === undefined || index === undefined) return [];
    const refused = refusedName(entry, known, before);
    if (!refused) return [];
    const { place, at, message } = refused;
    return file.problem(['rules', index, ...place.split('.'), at], `rule "${name}": ${message}`);
  });
  if (problems.length > 0) throw new Failure(problems.map(({ message }) => message).join('\n'), 2);
}

/** What is probably wrong in rules, such as names that match nothing any more. Lines for people. */
export async function unmatchedLines(plan: Plan, current: Current, prune: boolean): Promise<string[]> {
  const { ruleWarnings } = await import('#server/app.ts');
  const known = namesAfter(plan, current, prune);
  return plan.order.flatMap(({ name, entry }) =>
    entry === undefined
      ? []
      : ruleWarnings(entry, known, 'offers').map(
          (warning) => `rule "${visibleText(name)}": ${visibleText(warning)}`,
        ),
  );
}

/** For a name that only the server can know: of a deleted panel, a former rule. */
const unknownName = 'query.unknown-value';
/** A deleted level may rank above or below all others. */
const deletedLevels = [
  { name: '(highest)', rank: Number.POSITIVE_INFINITY },
  { name: '(lowest)', rank: Number.NEGATIVE_INFINITY },
];

/** @throws Failure with line and column of each new or changed search that cannot be read, whatever names the server knows. */
export async function requireReadable(plan: Plan, current: Current, file: ConfigurationFile): Promise<void> {
  const searches = [...plan.searches.created, ...plan.searches.updated];
  if (searches.length === 0) return;
  // Imported only if searches differ, because it loads the server.
  const { parseQuery } = await import('#server/app.ts');
  const context = contextOf(plan, current);
  const problems: Failure[] = [];
  for (const { entry, index } of searches.toSorted((a, b) => a.index - b.index)) {
    try {
      parseQuery(entry.q, context);
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: string };
      if (!code?.startsWith('query.')) throw error;
      if (code === unknownName) continue;
      problems.push(file.problem(['searches', index, 'q'], message.replace(/^q: /, '')));
    }
  }
  if (problems.length > 0) throw new Failure(problems.map(({ message }) => message).join('\n'), 2);
}

/** The names that there will be. */
function contextOf({ levels, panels, rules }: Plan, current: Current) {
  const created = <T extends { readonly name: string }>(section: { created: readonly { entry: T }[] }) =>
    section.created.map(({ entry: { name } }) => ({ id: name, name, tags: [], rank: 0 }));
  return {
    now: Date.now(),
    timeZone: 'UTC',
    levels: [...current.levels, ...created(levels), ...deletedLevels],
    panels: [...current.panels, ...created(panels)],
    deletedPanels: [],
    tokens: current.tokens,
    rules: [...current.rules, ...created(rules)],
  };
}
