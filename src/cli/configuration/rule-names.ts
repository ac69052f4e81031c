/** The levels and tokens that rules of a file name in their conditions. */
import { type KnownNames, knownNames } from '#contract/routing/rule-names.ts';
import { Failure } from '../failure.ts';
import { visibleText } from '../terminal-text.ts';
import type { Current } from './entries.ts';
import type { ConfigurationFile } from './file.ts';
import type { Plan } from './plan.ts';

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
  const { refusedName } = await import('#app.ts');
  const known = namesAfter(plan, current, prune);
  const problems = plan.order.flatMap(({ name, known: before, entry, index }) => {
    if (entry === undefined || index === undefined) return [];
    const refused = refusedName(entry.when, known, before?.when);
    if (!refused) return [];
    const { place, at, message } = refused;
    return file.problem(['rules', index, ...place.split('.'), at], `rule "${name}": ${message}`);
  });
  if (problems.length > 0) throw new Failure(problems.map(({ message }) => message).join('\n'), 2);
}

/** Names of rules that are there already, and that match nothing any more, as lines for people. */
export async function unmatchedLines(plan: Plan, current: Current, prune: boolean): Promise<string[]> {
  const { ruleWarnings } = await import('#app.ts');
  const known = namesAfter(plan, current, prune);
  return plan.order.flatMap(({ name, entry }) =>
    entry === undefined
      ? []
      : ruleWarnings(entry.when, known, 'offers').map(
          (warning) => `rule "${visibleText(name)}": ${visibleText(warning)}`,
        ),
  );
}
