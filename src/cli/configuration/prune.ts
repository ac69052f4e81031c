/** What deleting the rest of a server does to what stays. */
import type { RuleConditions } from '#contract/rule.ts';
import { Failure } from '../failure.ts';
import { visibleText } from '../terminal-text.ts';
import { type Current, Names, type WholeRule } from './entries.ts';
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

/** Rules that stay and choose a panel, or name a channel, which --prune deletes: as lines for people. */
export function prunedTargetLines(plan: Plan, current: Current): string[] {
  const panels = new Set(plan.panels.extra.map(({ name }) => name));
  const channels = new Set(plan.channels.extra.map(({ name }) => name));
  return stayingRules(plan, current).flatMap(({ rule: { name, then } }) => {
    const targets = [then.panels, ...(then.escalate ?? []).map((step) => step.panels)];
    const chosen = targets.flatMap((target) =>
      typeof target === 'object' && 'names' in target ? target.names : [],
    );
    const line = (verb: string, kind: string, target: string) =>
      `rule "${visibleText(name)}" ${verb} ${kind} "${visibleText(target)}", which is deleted`;
    return [
      ...[...new Set(chosen)]
        .filter((panel) => panels.has(panel))
        .map((panel) => line('chooses', 'panel', panel)),
      ...(then.channels ?? [])
        .filter((channel) => channels.has(channel))
        .map((channel) => line('names', 'channel', channel)),
    ];
  });
}

/** @throws Failure when --prune would delete a level that a rule or a panel names, which the server refuses. */
export function requireUnusedLevels(plan: Plan, current: Current, file: ConfigurationFile): void {
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

function levelsOf({ when, then }: WholeRule): string[] {
  const named = (conditions: RuleConditions = {}) => [conditions.minLevel, ...(conditions.level ?? [])];
  const set = [then.setLevel, ...(then.escalate ?? []).map(({ setLevel }) => setLevel)];
  return [...named(when), ...named(when.not), ...set].filter((level) => level !== undefined);
}
