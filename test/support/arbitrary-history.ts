/** Random histories and searches, for tests that compare the database with a plain list. */
import fc from 'fast-check';
import { parseAddressRange } from '#core/addresses.ts';
import type { NotificationDraft } from '#core/log/log.ts';
import type { Route } from '#core/log/route.ts';
import type { PanelAddress } from '#core/log/target.ts';
import { negate } from '#core/search/search-parser.ts';
import { join, type Query, searchStates, type Term } from '#core/search/search-query.ts';
import type { LogSizes } from '#storage/sqlite/log/log-writer.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { labelNames, labelsTexts, labelValues } from './arbitrary-labels.ts';
import { draft, type HistoryModel } from './history-model.ts';

/** The earliest time of a notification. */
export const start = Date.UTC(2026, 0, 1);
/** The time between two notifications. */
const stepMs = 17 * 60_000;
const panels: readonly PanelAddress[] = [
  { id: 'p1', tags: ['noc'] },
  { id: 'p2', tags: [] },
];
const rules = ['r1', 'r2'].map((id) => ({ id, name: id }));
const routes: readonly Route[] = [
  routeTo({ all: true }),
  routeTo({ ids: ['p1'] }, { rules: [rules[0]!] }),
  routeTo({ tags: ['noc'] }, { rules }),
  routeTo({}, { rules: [rules[1]!] }),
  routeTo({ all: true }, { muted: true }),
];
const levels = ['info', 'error', 'critical'];
const hosts = ['db-01', 'DB-02', 'web[1]', 'größe', 'x*y'];
const addresses = ['10.0.0.1', '10.0.0.9', '10.1.0.1', '2001:db8::1', '192.168.0.1'];
const keys = ['disk:/', 'Disk:/', 'cpu', 'a?b'];
const words = [
  'disk',
  'disc',
  'Größe',
  'grosse',
  'café',
  'CAFE',
  'диск',
  '磁盘',
  'a1',
  'full',
  'full-scan',
  "don't",
];

const nullable = <T>(values: readonly T[]) => fc.constantFrom(null, ...values);
const text = fc
  .array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 })
  .map((some) => some.join(' '));

export interface Step {
  readonly draft: Partial<NotificationDraft> & { readonly lasts: number | null };
  readonly route: number;
  readonly throttled: boolean;
  readonly act: 'nothing' | 'clear' | 'show' | 'foreign' | 'index' | 'maintain' | 'restart';
  readonly aim: number;
}

export const step: fc.Arbitrary<Step> = fc.record({
  draft: fc.record({
    title: text,
    message: text,
    level: fc.constantFrom(...levels),
    host: nullable(hosts),
    ip: nullable(addresses),
    sourceIp: fc.constantFrom(...addresses),
    key: nullable(keys),
    labels: labelsTexts,
    tokenId: fc.constantFrom('tok1', 'tok2'),
    lasts: nullable([stepMs / 2, 20 * stepMs]),
  }),
  route: fc.nat({ max: routes.length - 1 }),
  throttled: fc.boolean().chain((maybe) => (maybe ? fc.boolean() : fc.constant(false))),
  act: fc.constantFrom('nothing', 'nothing', 'clear', 'show', 'foreign', 'index', 'maintain', 'restart'),
  aim: fc.nat({ max: 1000 }),
});

/** A random notification to append to the log. */
export const notification: fc.Arbitrary<NotificationDraft> = step.map(
  ({ draft: { lasts, ...content }, route, throttled, aim }) => {
    const receivedAt = start + aim * stepMs;
    return draft({
      ...content,
      receivedAt,
      expiresAt: lasts === null ? null : receivedAt + lasts,
      route: routes[route] as Route,
      throttledOn: throttled ? '0199c0de-7000-7000-8000-000000000001' : null,
    });
  },
);

const some = <T>(values: readonly T[]) => fc.subarray([...values], { minLength: 1 });
const patterns = (values: readonly string[]) =>
  fc.array(
    fc.constantFrom(
      ...values.flatMap((value) => [
        value.replace(/[*?\\]/g, '\\$&'),
        `${value.slice(0, 2)}*`,
        `*${value.slice(2)}`,
        `?${value.slice(1)}`,
      ]),
      '*',
    ),
    { minLength: 1, maxLength: 2 },
  );
const phrase = fc.record({
  text: fc.oneof(fc.constantFrom(...words), text, fc.constantFrom('dis', 'f', 'г', 'gro', '1', '7')),
  prefix: fc.boolean(),
});
const ranges = fc
  .array(
    fc.constantFrom('10.0.0.0/8', '10.0.0.1', '10.0.0.2-10.0.0.9', '2001:db8::/32', '::/0', '0.0.0.0/0'),
    { minLength: 1, maxLength: 2 },
  )
  .map((texts) => texts.map((range) => ({ text: range, ...parseAddressRange(range) })));
export const instant = fc.nat({ max: 70 }).map((minute) => start + minute * stepMs + minute);

const term: fc.Arbitrary<Term> = fc.oneof(
  fc.record({
    kind: fc.constant('text' as const),
    field: fc.constantFrom(null, 'title' as const, 'message' as const),
    phrases: fc.array(phrase, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant('host' as const),
    patterns: patterns(hosts).map((list) => list.map((pattern) => pattern.toLowerCase())),
  }),
  fc.record({ kind: fc.constant('key' as const), patterns: patterns(keys) }),
  fc.record({
    kind: fc.constant('label' as const),
    patterns: fc
      .tuple(fc.constantFrom(...labelNames), patterns(labelValues))
      .map(([name, values]) => values.map((value) => `${name}=${value}`.toLowerCase())),
  }),
  fc.record({ kind: fc.constant('ip' as const), ranges }),
  fc.record({ kind: fc.constant('source' as const), ranges }),
  fc.record({ kind: fc.constant('level' as const), names: some([...levels, 'gone']) }),
  fc.record({ kind: fc.constant('token' as const), ids: some(['tok1', 'tok2', 'tok3']) }),
  fc.record({ kind: fc.constant('rule' as const), ids: some(['r1', 'r2', 'r3']) }),
  fc.record({ kind: fc.constant('panel' as const), panels: some(panels) }),
  fc.record({
    kind: fc.constant('is' as const),
    states: some(searchStates).map((states) => states.slice(0, 2)),
  }),
  fc.record({ kind: fc.constantFrom('after' as const, 'before' as const), at: instant }),
);

export const { query } = fc.letrec<{ query: Query }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    term,
    fc.constant<Query>({ kind: 'all' }),
    tie('query').map(negate),
    fc
      .tuple(
        fc.constantFrom('and' as const, 'or' as const),
        fc.array(tie('query'), { minLength: 2, maxLength: 3 }),
      )
      .map(([kind, terms]) => join(kind, terms)),
  ),
}));

/** The notification of a step: some minutes after the previous one, sometimes with a clock that was set back. */
export function draftOf(
  { draft: given, route, throttled, aim }: Step,
  i: number,
  first: string | undefined,
): NotificationDraft {
  const { lasts, ...content } = given;
  const receivedAt = start + (i - (aim % 7 === 0 ? 5 : 0)) * stepMs + aim;
  return draft({
    ...content,
    receivedAt,
    expiresAt: lasts === null ? null : receivedAt + lasts,
    route: routes[route] as Route,
    ...(throttled && { throttledOn: first ?? null }),
  });
}

/** The panel on which a step shows something. */
export const panelOf = ({ aim }: Step) => panels[aim % 2] as PanelAddress;

/** Writes the steps. */
export function play(model: HistoryModel, steps: readonly Step[]): void {
  for (const [i, each] of steps.entries()) {
    const { act, aim } = each;
    const made = draftOf(each, i, model.known.at(0)?.id);
    model.transaction(() => model.append(made, act === 'foreign' ? 8 : model.tenant));
    const aimed = model.known[aim % Math.max(1, model.known.length)];
    if (aimed && act === 'clear') model.transaction(() => model.clear(aimed.id, made.receivedAt));
    if (aimed && act === 'show') model.transaction(() => model.show(aimed.id, panelOf(each)));
    if (act === 'index') model.index();
    if (act === 'maintain') model.maintain(aim % 5);
    if (act === 'restart') model.restart();
  }
}

/** Small sizes, so that short histories go through everything that happens to long ones. */
export const sizes: fc.Arbitrary<LogSizes> = fc.record({
  partitionRows: fc.constantFrom(3, 7, 20, 1000),
  indexBatchRows: fc.constantFrom(1, 4, 1000),
});
