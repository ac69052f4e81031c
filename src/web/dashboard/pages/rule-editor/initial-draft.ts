/** The initial draft of a new rule: empty, an example, a copy, or a mute of one host. */
import type { Rule } from '#contract/routing/rule.ts';
import { muteUntil } from '#web/dashboard/formats/wall-clock.ts';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
import { type Draft, draftOf, newDraft } from './draft.ts';

export const examples = ['noc', 'night'] as const;
type ExampleName = (typeof examples)[number];

export interface InitialDraft {
  readonly draft: Draft;
  /** The index of the new rule in the list. */
  readonly place: number;
}

export function exampleDraft(name: ExampleName, timeZone: string): Draft {
  if (name === 'noc')
    return newDraft(timeZone, {
      conditions: [
        { field: 'host', not: false, how: 'contains', values: ['db-*'] },
        { field: 'minLevel', not: false, how: 'contains', values: ['warning'] },
      ],
      then: { panels: { tags: ['noc'] } },
    });
  return newDraft(timeZone, {
    conditions: [{ field: 'minLevel', not: true, how: 'contains', values: ['error'] }],
    then: { mute: true },
    windows: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '22:00', until: '07:00' }],
  });
}

/** @param copyName Names a copy of a rule. */
export function initialDraftOf(
  { mute, copy, example }: RulesSearch,
  rules: readonly Rule[],
  { timeZone, copyName }: { readonly timeZone: string; readonly copyName: (name: string) => string },
): InitialDraft {
  const copied = rules.findIndex(({ id }) => id === copy);
  const original = rules[copied];
  if (original) {
    const draft = { ...draftOf(original, timeZone), name: copyName(original.name).slice(0, 100) };
    return { draft, place: copied + 1 };
  }
  if (mute !== undefined) {
    const draft = newDraft(timeZone, {
      conditions: [{ field: 'host', not: false, how: 'contains', values: [mute] }],
      then: { mute: true },
      activeUntil: muteUntil('morning', Date.now(), timeZone),
    });
    // After a rule that stops the evaluation, it would mute nothing.
    return { draft, place: 0 };
  }
  const known = examples.find((name) => name === example);
  return { draft: known ? exampleDraft(known, timeZone) : newDraft(timeZone), place: rules.length };
}
