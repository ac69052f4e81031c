import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draft, HistoryModel, routeTo } from '../../../test/support/history-model.ts';
import { parseAddressRange } from '../../core/addresses.ts';
import type { NotificationDraft, PanelAddress, Route } from '../../core/ports.ts';
import { join, negate } from '../../core/search-parser.ts';
import { printQuery } from '../../core/search-print.ts';
import { type Query, searchStates, type Term } from '../../core/search-query.ts';
import { indexSlice } from './indexer.ts';
import { searchPage } from './search.ts';
import { defaultTuning, type Tuning } from './search-tuning.ts';

const start = Date.UTC(2026, 0, 1);
/** Between one notification and the next. */
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

interface Step {
  readonly draft: Partial<NotificationDraft> & { readonly lasts: number | null };
  readonly route: number;
  readonly throttled: boolean;
  readonly act: 'nothing' | 'clear' | 'show' | 'foreign' | 'index';
  readonly aim: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  draft: fc.record({
    title: text,
    message: text,
    level: fc.constantFrom(...levels),
    host: nullable(hosts),
    ip: nullable(addresses),
    sourceIp: fc.constantFrom(...addresses),
    key: nullable(keys),
    tokenId: fc.constantFrom('tok1', 'tok2'),
    lasts: nullable([stepMs / 2, 20 * stepMs]),
  }),
  route: fc.nat({ max: routes.length - 1 }),
  throttled: fc.boolean().chain((maybe) => (maybe ? fc.boolean() : fc.constant(false))),
  act: fc.constantFrom('nothing', 'nothing', 'clear', 'show', 'foreign', 'index'),
  aim: fc.nat({ max: 1000 }),
});

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
  text: fc.oneof(fc.constantFrom(...words), text, fc.constantFrom('dis', 'f', 'г', 'gro')),
  prefix: fc.boolean(),
});
const ranges = fc
  .array(
    fc.constantFrom('10.0.0.0/8', '10.0.0.1', '10.0.0.2-10.0.0.9', '2001:db8::/32', '::/0', '0.0.0.0/0'),
    { minLength: 1, maxLength: 2 },
  )
  .map((texts) => texts.map((range) => ({ text: range, ...parseAddressRange(range) })));
const instant = fc.nat({ max: 70 }).map((minute) => start + minute * stepMs + minute);

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

const { query } = fc.letrec<{ query: Query }>((tie) => ({
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

/** Writes the steps, some minutes apart, with clocks that now and then go back. */
function play(model: HistoryModel, steps: readonly Step[]): void {
  for (const [i, { draft: given, route, throttled, act, aim }] of steps.entries()) {
    const { lasts, ...content } = given;
    const receivedAt = start + (i - (aim % 7 === 0 ? 5 : 0)) * stepMs + aim;
    const made = draft({
      ...content,
      receivedAt,
      expiresAt: lasts === null ? null : receivedAt + lasts,
      route: routes[route] as Route,
      ...(throttled && { throttledOn: model.known.at(0)?.id ?? null }),
    });
    model.transaction(() => model.append(made, act === 'foreign' ? 8 : model.tenant));
    const aimed = model.known[aim % Math.max(1, model.known.length)];
    if (aimed && act === 'clear') model.transaction(() => model.clear(aimed.id, receivedAt));
    if (aimed && act === 'show')
      model.transaction(() => model.show(aimed.id, panels[aim % 2] as PanelAddress));
    if (act === 'index') indexSlice(model.db, 1 + (aim % 10));
  }
}

/** Numbers that lead small histories through everything that large ones are searched by. */
const tuning: fc.Arbitrary<Tuning> = fc
  .record({
    firstRows: fc.constantFrom(0, 0, 3),
    probed: fc.constantFrom(2, 5, 1000),
    windowFill: fc.constantFrom(0, 0, 2),
    firstWindow: fc.constantFrom(1, 7),
    windowGrowth: fc.constantFrom(1, 2),
    widestWindow: fc.constantFrom(1, 5, 1000),
    firstBatch: fc.constantFrom(1, 4),
    probedBlocks: fc.constantFrom(1, 32),
    windowedLists: fc.constantFrom(0, 1, 2, 1000),
    visitedValues: fc.constantFrom(1, 4000),
    costs: fc
      .tuple(...Array.from({ length: 7 }, () => fc.constantFrom(0.01, 1, 100)))
      .map(([open = 1, block = 1, posting = 1, match = 1, row = 1, text = 1, logRow = 1]) => ({
        open,
        block,
        posting,
        match,
        row,
        text,
        logRow,
      })),
  })
  .chain((random) => fc.constantFrom(random, random, random, { ...random, costs: defaultTuning.costs }));

/** Every page of a search, one after the other. */
function searchAll(model: HistoryModel, asked: Query, now: number, limit: number, tuned: Tuning): string[] {
  const ids: string[] = [];
  let before: number | undefined;
  do {
    const options = { limit, now, ...(before !== undefined && { before }) };
    const page = searchPage(model.db, model.tenant, asked, options, tuned);
    ids.push(...page.records.map(({ id }) => id));
    before = page.next ?? undefined;
  } while (before !== undefined);
  return ids;
}

test('indexed, half indexed or not at all, a search finds what a loop over the list finds', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.array(query, { minLength: 20, maxLength: 20 }),
      fc.constantFrom('none', 'some', 'all'),
      instant,
      fc.integer({ min: 1, max: 7 }),
      tuning,
      // Where blocks of positions meet, and where numbers outgrow 31 bits and an entry outgrows 53.
      fc.constantFrom(0, 4085, 2 ** 31 - 20, 2 ** 40 - 200),
      (steps, queries, indexing, now, limit, tuned, from) => {
        const model = new HistoryModel(from);
        play(
          model,
          indexing === 'none'
            ? steps.map((s) => ({ ...s, act: s.act === 'index' ? 'nothing' : s.act }))
            : steps,
        );
        if (indexing === 'all') while (indexSlice(model.db, 20).behind);
        for (const asked of queries) {
          expect(searchAll(model, asked, now, limit, tuned), printQuery(asked)).toEqual(
            model.search(asked, now),
          );
        }
        model.db.close();
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);
