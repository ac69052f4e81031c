/** What a plan would have changed in the last day: the rules' replay, in words. */
import { ApiError } from '#client/call.ts';
import type { ReplayChange, ReplayRequest, ReplayResponse } from '#contract/routing/routing.ts';
import type { RuleCreate } from '#contract/routing/rule.ts';
import { visibleText } from '../terminal-text.ts';
import { locatedError, onCallOf, panelIdsOf, ruleOf } from './apply.ts';
import type { Connection } from './connection.ts';
import { type Current, Names, onCallToSend, withoutDeleted } from './entries.ts';
import type { ConfigurationFile } from './file.ts';
import type { Plan } from './plan.ts';

const days = 1;
const maxNamed = 10;
/** What a level has in a replay until it is created: as `info`, whose look new ones start with. */
const newLevel = { rank: 20, durationMs: 30_000 };

interface EffectOptions {
  readonly file: ConfigurationFile;
  readonly prune: boolean;
}

/**
 * The effect of a plan on the notifications of the last day, as lines of text; none when it changes nothing that routing
 * looks at.
 *
 * @throws Failure when the server refuses a rule of the file, with its line and column.
 */
export async function effectOf(
  { request }: Connection,
  plan: Plan,
  current: Current,
  { file, prune }: EffectOptions,
): Promise<string[]> {
  const draft = draftOf(plan, current, { file, prune });
  if (!draft) return [];
  try {
    const { indexes: _, ...question } = draft;
    return lines(await request<ReplayResponse>('POST', '/api/rules/replay', { ...question, days }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    const [, at, inner = ''] = /^\/rules\/(\d+)(.*)$/.exec(error.place.pointer ?? '') ?? [];
    const index = at === undefined ? undefined : draft.indexes[Number(at)];
    // A rule of the server that no longer works is no mistake of the file.
    if (index === undefined) return [`Effect on the last day: unknown (${visibleText(error.message)})`];
    const place = { pointer: inner };
    const own = new ApiError(error.status, error.message, { code: error.code, place });
    throw locatedError(file, ['rules', index], own);
  }
}

/** Rules, levels and panels as they would be; `indexes`: the place in the file of each rule. undefined: as they are. */
function draftOf(plan: Plan, current: Current, { file, prune }: EffectOptions) {
  const isTouched = [plan.levels, plan.channels, plan.panels, plan.onCall, plan.rules].some(
    ({ created, updated, extra }) => created.length + updated.length + (prune ? extra.length : 0) > 0,
  );
  if (!isTouched && !plan.isReordered) return undefined;
  const panels = panelsOf(plan, current, prune);
  const channels = channelsOf(plan, current, prune);
  const ids = panelIdsOf({ panels } as unknown as Current);
  const onCall = onCallAfter(plan, current, { file, prune, panelIds: ids });
  const there = {
    panels: new Set(ids.values()),
    channels: new Set(channels.map(({ id }) => id)),
    onCall: new Set(onCall.map(({ id }) => id)),
  };
  const pruned = new Set(prune ? plan.rules.extra.map(({ name }) => name) : []);
  const kept = plan.order.filter(({ name }) => !pruned.has(name));
  const rules = kept.map(({ known, entry, index }): ReplayRequest['rules'][number] => {
    const id = known && { id: known.id };
    if (entry === undefined || index === undefined)
      return draftRule(known as Current['rules'][number], there);
    return { ...id, ...ruleOf({ entry, index }, ids, file) };
  });
  const levels = levelsOf(plan, current, prune);
  return { rules, levels, panels, channels, onCall, indexes: kept.map(({ index }) => index) };
}

function draftRule(
  rule: Current['rules'][number],
  there: Parameters<typeof withoutDeleted>[1],
): RuleCreate & { id: string } {
  const { hits: _, lastHitAt: __, createdAt: ___, updatedAt: ____, ...spec } = rule;
  return { ...spec, then: withoutDeleted(spec.then, there) };
}

function levelsOf(plan: Plan, { levels }: Current, prune: boolean): NonNullable<ReplayRequest['levels']> {
  const all = new Map(levels.map(({ name, rank, durationMs }) => [name, { name, rank, durationMs }]));
  for (const { entry } of [...plan.levels.created, ...plan.levels.updated]) {
    const { name, rank, durationMs } = { ...newLevel, ...all.get(entry.name), ...entry };
    all.set(name, { name, rank, durationMs });
  }
  if (prune) for (const { name } of plan.levels.extra) all.delete(name);
  return [...all.values()];
}

function panelsOf(plan: Plan, { panels }: Current, prune: boolean): NonNullable<ReplayRequest['panels']> {
  const all = new Map(panels.map(({ id, name, tags }) => [name, { id, name, tags }]));
  for (const { entry, index } of plan.panels.created)
    all.set(entry.name, { id: `new-${index}`, name: entry.name, tags: entry.tags ?? [] });
  for (const { known, entry } of plan.panels.updated)
    all.set(known.name, { id: known.id, name: known.name, tags: entry.tags ?? known.tags });
  if (prune) for (const { name } of plan.panels.extra) all.delete(name);
  return [...all.values()];
}

function onCallAfter(
  plan: Plan,
  current: Current,
  { prune, ...options }: EffectOptions & { readonly panelIds: ReadonlyMap<string, string> },
): NonNullable<ReplayRequest['onCall']> {
  const names = new Names(current);
  const deletedPanel = (_: unknown, name: string) => new Error(`the panel "${name}" is deleted`);
  const changed = new Map(plan.onCall.updated.map(({ known, ...each }) => [known.id, each]));
  const pruned = new Set(prune ? plan.onCall.extra.map(({ id }) => id) : []);
  const kept = current.onCall
    .filter(({ id }) => !pruned.has(id))
    .map((known) => {
      const update = changed.get(known.id);
      const { id } = known;
      if (update) return { id, ...onCallOf(update, options) };
      return { id, ...onCallToSend(names.onCallEntry(known), options.panelIds, deletedPanel) };
    });
  const created = plan.onCall.created.map((each) => ({
    id: `new-${each.index}`,
    ...onCallOf(each, options),
  }));
  return [...kept, ...created];
}

/** A deleted channel counts as one that is off: a rule that only names such ones is still a rule. */
function channelsOf(plan: Plan, { channels, rules }: Current, prune: boolean) {
  const all = new Map(
    rules
      .flatMap(({ then }) => then.channels ?? [])
      .map((id) => [id, { id, name: 'a deleted channel', enabled: false }]),
  );
  for (const { id, name, enabled } of channels) all.set(id, { id, name, enabled });
  for (const { entry, index } of plan.channels.created)
    all.set(entry.name, { id: `new-${index}`, name: entry.name, enabled: entry.enabled ?? true });
  for (const { known, entry } of plan.channels.updated)
    all.set(known.id, { id: known.id, name: known.name, enabled: entry.enabled ?? known.enabled });
  if (prune) for (const { id, name } of plan.channels.extra) all.set(id, { id, name, enabled: false });
  return [...all.values()];
}

const words: Readonly<Record<ReplayChange, string>> = {
  muted: 'muted',
  throttled: 'throttled',
  suppressed: 'suppressed',
  'newly-shown': 'newly shown',
  'no-longer-shown': 'no longer shown',
  'other-panels': 'on other panels',
  'other-look': 'with another level or duration',
};

function lines({
  considered,
  changed,
  changes,
  rules,
  panels,
  channels,
  complete,
}: ReplayResponse): string[] {
  if (considered === 0) return ['Effect on the last day: none, there were no notifications.'];
  const counts = Object.entries(changes)
    .filter(([, count]) => count > 0)
    .map(([change, count]) => `${count} ${words[change as ReplayChange] ?? change}`);
  const of = `${complete ? '' : 'the newest '}${considered} notifications`;
  const differing = rules.filter(({ matchedBefore, matchedAfter }) => matchedBefore !== matchedAfter);
  return [
    `Effect on the last day: of ${of}, ${changed} would change${counts.length > 0 ? `: ${counts.join(', ')}` : ''}.`,
    ...named(
      differing,
      ({ name, matchedBefore, matchedAfter }) =>
        `rule "${name}" would have matched ${matchedAfter} (it matched ${matchedBefore})`,
    ),
    ...named(
      rules.filter(({ escalated = 0 }) => escalated > 0),
      ({ name, escalated }) => `rule "${name}" would have escalated ${escalated} alarms`,
    ),
    ...named(
      panels,
      ({ name, shownBefore, shownAfter }) =>
        `panel "${name}" would have been sent ${shownAfter} (it was sent ${shownBefore})`,
    ),
    ...named(
      channels,
      ({ name, sentBefore, sentAfter }) =>
        `channel "${name}" would have been sent ${sentAfter} (it was sent ${sentBefore})`,
    ),
  ];
}

function named<T>(all: readonly T[], sentence: (each: T) => string): string[] {
  const more = all.length > maxNamed ? [`  and ${all.length - maxNamed} more`] : [];
  return [...all.slice(0, maxNamed).map((each) => `  ${visibleText(sentence(each))}`), ...more];
}
