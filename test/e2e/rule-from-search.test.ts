/** The dashboard makes the conditions of a rule of a search: history and rules, of the server, must find the same by them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { compileConditions } from '#core/routing/conditions.ts';
import { EvaluationContext } from '#core/routing/subject.ts';
import { matcherOf } from '#core/search/search-evaluate.ts';
import { parseQuery } from '#core/search/search-parser.ts';
import { whenOfSearch } from '#web/dashboard/query/search-when.ts';

const levels = [
  { name: 'info', rank: 20 },
  { name: 'warning', rank: 30 },
  { name: 'notice', rank: 30 },
  { name: 'error', rank: 40 },
];
const ranks = new Map(levels.map(({ name, rank }) => [name, { rank, durationMs: 0 }]));
const now = 1_800_000_000_000;
const context = {
  ...{ now, timeZone: 'UTC', levels, panels: [], deletedPanels: [], rules: [] },
  tokens: [{ id: 'tok1', name: 'ci' }],
};

const terms = fc.constantFrom(
  ...['host:db-1', 'host:db-*', 'host:"w e?"', 'host:DB-1,web', 'key:a/b', 'key:"C:\\logs"', 'key:a\\*'],
  ...[
    'level:error',
    'level:>=warning',
    'level:<warning',
    'level:>info',
    'level:<=warning',
    'level:info,>warning',
  ],
  ...['ip:10.0.0.0/8', 'ip:10.0.0.1-10.0.0.9,::1', 'source:192.0.2.7', 'token:ci', 'token:c*'],
  ...['label:env', 'label:env=prod', 'label:ENV=p*', 'label:"site=plant 2",site=b', 'label:env=a,site=b'],
  ...['label:env=prod,a', 'label:site=b,"plant 2",ENV=a,p*', 'label:env,site', 'label:site,env=a,prod'],
  ...['is:live', 'since:1h'],
);
const { query } = fc.letrec<{ query: string }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: terms },
    { weight: 1, arbitrary: tie('query').map((q) => `-(${q})`) },
    { weight: 1, arbitrary: terms.map((q) => `NOT -${q}`) },
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.array(tie('query'), { minLength: 2, maxLength: 3 }), fc.constantFrom(' ', ' AND ', ' OR '))
        .map(([parts, by]) => `(${parts.join(by)})`),
    },
  ),
}));
const notification = fc.record({
  level: fc.constantFrom('info', 'warning', 'notice', 'error'),
  host: fc.constantFrom(null, 'db-1', 'DB-2', 'web', 'w e1'),
  key: fc.constantFrom(null, 'a/b', 'C:\\logs', 'a*', 'ab'),
  ip: fc.constantFrom(null, '10.0.0.1', '10.9.0.1', '::1'),
  sourceIp: fc.constantFrom('192.0.2.7', '192.0.2.8'),
  tokenId: fc.constantFrom('tok1', 'tok2'),
  labels: fc.constantFrom(null, '{"env":"prod"}', '{"Env":"A","site":"b"}', '{"site":"plant 2"}'),
});

test('conditions made of a search hold for what it finds, and for nothing else if they say all of it', () => {
  let exact = 0;
  fc.assert(
    fc.property(query, fc.array(notification, { minLength: 20, maxLength: 20 }), (q, sent) => {
      const { when, differences } = whenOfSearch(q, ranks);
      const isFound = matcherOf(parseQuery(q, context), now);
      const conditions = compileConditions(when, ranks);
      if (differences.length === 0) exact += 1;
      for (const each of sent) {
        const texts = { ...noTexts, title: 't', message: 'm', ...each };
        const found = isFound({
          ...texts,
          ...{ receivedAt: now, throttledOn: null, expiresAt: null },
          route: { revision: 1, rules: [], muted: false, target: { all: true, ids: [], tags: [] } },
          ...{ cleared: false, shown: false, acknowledged: false, off: null },
        });
        const subject = {
          ...texts,
          ...{ rank: ranks.get(each.level)?.rank ?? 0, ttl: null },
          tokenName: each.tokenId === 'tok1' ? 'ci' : 'other',
        };
        const holds = conditions.every((condition) => condition.holds(new EvaluationContext(subject)));
        if (found) expect(holds, q).toBe(true);
        if (differences.length === 0) expect(holds, q).toBe(found);
      }
    }),
    { numRuns: 3000 },
  );
  expect(exact).toBeGreaterThan(300);
});
