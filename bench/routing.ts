/**
 * The cost of routing: one decision with 10 and 10,000 rules of several kinds, compiling them, and the slowest regular
 * expressions on the longest message. Run: node bench/routing.ts
 */
import { noTexts } from '#contract/history/fields.ts';
import type { RuleSpec, RuleWhen } from '#contract/routing/rule.ts';
import { createYieldToEventLoop } from '#core/limits/concurrency.ts';
import { compileRegex } from '#core/routing/regex.ts';
import type { Router } from '#core/routing/router.ts';
import { compileRules, compileRulesInSlices } from '#core/routing/rules.ts';
import type { RoutingSubject } from '#core/routing/subject.ts';

const levels = new Map([
  ['info', { rank: 20, durationMs: 30_000 }],
  ['warning', { rank: 30, durationMs: 120_000 }],
  ['error', { rank: 40, durationMs: 0 }],
]);
const four = (i: number) => String(i).padStart(4, '0');

/** Ten usual kinds of rules, in equal parts. */
const mixed = (i: number): RuleWhen => {
  const kinds: RuleWhen[] = [
    { host: [`db-${four(i)}.example.com`] },
    { host: [`web-${four(i)}*`], minLevel: 'warning' },
    { ip: [`10.${i >> 8}.${i & 255}.0/24`] },
    { sourceIp: [`2001:db8:${i.toString(16)}::/48`] },
    { token: [`tok${four(i)}`], level: ['error'] },
    { title: { contains: `service ${four(i)}` } },
    { title: { regex: `^backup of vm-${four(i)} (failed|late)` } },
    { key: [`check/${four(i)}/*`] },
    { host: [`*.site-${four(i)}.example.com`], not: { title: { contains: 'test' } } },
    { message: { glob: `*rack ${four(i)}*` } },
  ];
  return kinds[i % kinds.length] as RuleWhen;
};

const makeUps: [name: string, when: (i: number) => RuleWhen][] = [
  ['a mix of ten kinds', mixed],
  ['exact hosts', (i) => ({ host: [`db-${four(i)}.example.com`] })],
  ['CIDR blocks', (i) => ({ ip: [`10.${i >> 8}.${i & 255}.0/24`] })],
  ['words in titles', (i) => ({ title: { contains: `disk ${four(i)} ` } })],
  [
    'all for one level, told apart by title',
    (i) => ({ level: ['error'], title: { regex: `^disk ${four(i)}` } }),
  ],
  ['nothing to look up by: all are tested', (i) => ({ minLevel: 'error', not: { host: [`db-${four(i)}`] } })],
];

const ruleOf = (when: RuleWhen, i: number): RuleSpec => ({
  id: `r${i}`,
  name: `rule ${i}`,
  enabled: true,
  when,
  then: { panels: { tags: [`team-${i % 20}`] } },
  continue: true,
  activeFrom: null,
  activeUntil: null,
  windows: [],
  timeZone: 'Europe/Berlin',
  note: '',
});

const subjects: RoutingSubject[] = Array.from({ length: 1000 }, (_, n) => {
  const i = (n * 7919) % 10_000;
  return {
    title: `disk ${four(i)} is nearly full on this machine`,
    message: `Only 3 % of /var is left in rack ${four(i)}; the last backup is two days old.`,
    level: 'warning',
    rank: 30,
    ttl: null,
    ...noTexts,
    ip: `10.${i >> 8}.${i & 255}.7`,
    sourceIp: '192.0.2.7',
    host: `db-${four(i)}.example.com`,
    key: `check/${four(i)}/disk`,
    tokenId: 'tok0001',
    tokenName: 'monitoring',
  };
});

const now = Date.parse('2026-11-02T12:00:00Z');

function microsecondsPerRoute(router: Router): number {
  const rounds: number[] = [];
  const budgetMs = 1000;
  for (const end = performance.now() + budgetMs; performance.now() < end; ) {
    const started = performance.now();
    for (const subject of subjects) router.route(subject, now);
    rounds.push(((performance.now() - started) * 1000) / subjects.length);
  }
  // The minimum, because other work on the machine only adds time.
  return Math.min(...rounds);
}

function compiled(count: number, when: (i: number) => RuleWhen): { router: Router; ms: number } {
  const rules = Array.from({ length: count }, (_, i) => ruleOf(when(i), i));
  const started = performance.now();
  const router = compileRules({ revision: 1, rules }, { levels });
  return { router, ms: performance.now() - started };
}

console.log(`node ${process.version}, ${new Date().toISOString().slice(0, 10)}`);
console.log(
  '\none decision                              10 rules   10,000 rules   tested   compiling 10,000',
);
for (const [name, when] of makeUps) {
  const few = compiled(10, when).router;
  const many = compiled(10_000, when);
  const tested =
    subjects.reduce((sum, subject) => sum + many.router.countCandidates(subject), 0) / subjects.length;
  const columns = [
    name.padEnd(40),
    `${microsecondsPerRoute(few).toFixed(2)} µs`.padStart(10),
    `${microsecondsPerRoute(many.router).toFixed(2)} µs`.padStart(14),
    tested.toFixed(1).padStart(8),
    `${many.ms.toFixed(0)} ms`.padStart(18),
  ];
  console.log(columns.join(' '));
}

/** The longest time for which the event loop was blocked. */
async function longestPause(work: () => Promise<unknown>): Promise<{ ms: number; pauseMs: number }> {
  let last = performance.now();
  let pauseMs = 0;
  const look = () => {
    const now = performance.now();
    pauseMs = Math.max(pauseMs, now - last);
    last = now;
  };
  let running = true;
  const watch = () => {
    look();
    if (running) setImmediate(watch);
  };
  watch();
  const started = performance.now();
  await work();
  look();
  running = false;
  return { ms: performance.now() - started, pauseMs };
}

console.log('\n10,000 rules of ten kinds as a server compiles them     all of it   longest pause');
const rules = Array.from({ length: 10_000 }, (_, i) => ruleOf(mixed(i), i));
let previous: Router | undefined;
for (const [name, set] of [
  ['for the first time', rules],
  ['one rule changed', rules.map((rule, i) => (i === 5_000 ? { ...rule, name: 'changed' } : rule))],
] as const) {
  const { ms, pauseMs } = await longestPause(async () => {
    previous = await compileRulesInSlices(
      { revision: 1, rules: set },
      { levels },
      { yieldToEventLoop: createYieldToEventLoop(), previous },
    );
  });
  console.log(
    `${name.padEnd(52)} ${`${ms.toFixed(0)} ms`.padStart(10)} ${`${pauseMs.toFixed(1)} ms`.padStart(15)}`,
  );
}

const size = 16_384;
let seed = 1;
const random = (below: number) => {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return (seed >>> 0) % below;
};
const texts = [
  `${'a'.repeat(size - 1)}c`,
  Array.from({ length: size }, () => 'ab'[random(2)]).join(''),
  Array.from({ length: size }, () => String.fromCodePoint(0x61 + random(26))).join(''),
  Array.from({ length: size }, () => String.fromCodePoint(0x1f600 + random(60))).join(''),
  Array.from({ length: size }, () => String.fromCodePoint(0x4e00 + random(2_000))).join(''),
];
const most = 112;
const hostile = [
  '(a+)+$',
  '(.*)*x',
  '(a|b|ab)*c',
  '[ab]*a[ab]{12}c',
  `[ab]*a[ab]{${most}}c[^c]`,
  `(?:[ab]+[ab]*)+a[ab]{${most}}[cd]\\b`,
  `(?:a?){${most}}\\d`,
  `\\pL{${most}}\\d`,
  `(?:.?){${most}}\\d`,
  `(?:(?:\\b|\\B).?){${most >> 2}}\\d`,
  `(?:[\\pL\\pM]?\\PZ?){40}\\d`,
  `(?i)(?:[a-z].*){${most >> 1}}\\d{3}`,
];

/** The slowest of the texts: its first run, which fills the memory for states, and the best of five later runs. */
function slowest(test: (text: string) => boolean): { first: number; best: number } {
  const times = texts.map((text) => {
    const runs = Array.from({ length: 6 }, () => {
      const started = performance.now();
      test(text);
      return performance.now() - started;
    });
    return { first: runs[0] as number, best: Math.min(...runs.slice(1)) };
  });
  return {
    first: Math.max(...times.map(({ first }) => first)),
    best: Math.max(...times.map(({ best }) => best)),
  };
}

console.log(`\nhostile patterns, ${size} characters         reads   first time        again`);
for (const pattern of hostile) compileRegex(pattern, 'warm-up').test(texts[1] as string);
for (const pattern of hostile) {
  const regex = compileRegex(pattern, 'bench');
  const { first, best } = slowest((text) => regex.test(text));
  const columns = [
    pattern.slice(0, 40).padEnd(40),
    String(regex.maxChars).padStart(12),
    `${first.toFixed(1)} ms`.padStart(12),
    `${best.toFixed(1)} ms`.padStart(12),
  ];
  console.log(columns.join(' '));
}
