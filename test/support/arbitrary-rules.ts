/** Random rules and notifications from few values, so that they match. */
import fc from 'fast-check';
import { mapOptionalTexts } from '#contract/history/fields.ts';
import { groupFields } from '#contract/history/similar.ts';
import { type RuleConditions, type RuleSpec, throttleFields, weekdays } from '#contract/routing/rule.ts';
import type { RoutingSubject } from '#core/routing/subject.ts';
import { labelNames, labelsTexts, labelValues } from './arbitrary-labels.ts';

export const levels = new Map([
  ['success', { rank: 10, durationMs: 15_000 }],
  ['info', { rank: 20, durationMs: 30_000 }],
  ['warning', { rank: 30, durationMs: 120_000 }],
  ['error', { rank: 40, durationMs: 0 }],
  ['critical', { rank: 50, durationMs: 0 }],
]);

const addresses = [
  '10.0.0.1',
  '10.0.0.2',
  '10.0.1.1',
  '10.1.0.1',
  '192.168.0.1',
  '255.255.255.255',
  '::1',
  '2001:db8::1',
  '2001:db8:0:1::1',
  'ffff::',
];
const blocks = [
  ...addresses,
  '10.0.0.0/8',
  '10.0.0.0/24',
  '10.0.0.0/31',
  '10.0.0.3/30',
  '0.0.0.0/0',
  '::/0',
  '::/1',
  '2001:db8::/32',
  '2001:db8::/63',
  '10.0.0.2-10.0.1.0',
  '::2-2001:db8::2',
  '::ffff:10.0.0.0/104',
  '192.168.0.0/17',
];
const words = [
  'disk',
  'Disk',
  'full',
  'db',
  'DB-01',
  'db-02',
  'web-1',
  'ΟΔΟΣ',
  'οδος',
  'İx',
  '😀',
  'k',
  'ab',
  'a',
];
const globs = [
  '*',
  'db*',
  'DB-0?',
  '*-1',
  'd*k',
  'disk',
  'web-1',
  '*full*',
  '*a',
  '?',
  'ΟΔΟΣ*',
  '*isk*ull',
  'w*',
];
const regexes = ['^disk', 'disk', '(?i)DISK', 'full$', '\\bdb', 'd.*k', '^(?:web|db)-\\d', 'disk|full', 'x*'];

const some = <T>(items: readonly T[], most = 3) =>
  fc.uniqueArray(fc.constantFrom(...items), { minLength: 1, maxLength: most });
const oneOrMany = (items: readonly string[]) => fc.oneof(fc.constantFrom(...items), some(items));
const text = fc.oneof(
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(' ')),
  fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
);
const condition = fc.oneof(
  fc.record({ contains: oneOrMany(words) }),
  fc.record({ glob: oneOrMany(globs) }),
  fc.record({ regex: oneOrMany(regexes) }),
);

const labelConditions = fc.dictionary(
  fc.constantFrom(...labelNames, 'ENV'),
  some([...labelValues, '*', 'prod*', '*o*', '?????', 'plant*']),
  { minKeys: 1, maxKeys: 2, noNullPrototype: true },
);

const conditions: fc.Arbitrary<RuleConditions> = fc.record(
  {
    level: some(['info', 'error', 'custom']),
    minLevel: fc.constantFrom('info', 'warning', 'error'),
    ip: some(blocks),
    sourceIp: some(blocks),
    host: some(globs),
    title: condition,
    message: condition,
    token: some(['t1', 'ci', 'deploy']),
    key: some(globs),
    labels: labelConditions,
  },
  { requiredKeys: [] },
);
/** Mostly one or two conditions: with more, hardly anything matches. */
const fewConditions = fc
  .tuple(
    conditions,
    fc.shuffledSubarray(
      ['level', 'minLevel', 'ip', 'sourceIp', 'host', 'title', 'message', 'token', 'key', 'labels'] as const,
      { maxLength: 2 },
    ),
  )
  .map(
    ([all, names]): RuleConditions =>
      Object.fromEntries(Object.entries(all).filter(([name]) => names.some((kept) => kept === name))),
  );

const noon = Date.parse('2026-11-02T12:00:00Z');
const hourMs = 3_600_000;
export const moment = fc.integer({ min: -200, max: 200 }).map((hours) => noon + hours * hourMs);
const instant = fc.option(
  moment.map((at) => new Date(at).toISOString()),
  { freq: 1 },
);
const time = fc.constantFrom('00:00', '06:00', '12:00', '18:00', '23:30');

const ruleWhen = fc
  .tuple(fewConditions, fc.option(fewConditions, { nil: undefined }))
  .map(([when, not]) => (not ? { ...when, not } : when));

export const ruleSpec: fc.Arbitrary<RuleSpec> = fc
  .record({
    id: fc.uuid(),
    name: fc.constantFrom('night mute', 'db to the NOC', 'all else'),
    enabled: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false)),
    when: ruleWhen,
    then: fc.record(
      {
        panels: fc.oneof(
          fc.constantFrom('all' as const, 'none' as const),
          fc.record({ ids: some(['p1', 'p2', 'p3']) }),
          fc.record({ tags: some(['noc', 'lobby']) }),
        ),
        setLevel: fc.constantFrom('info', 'error'),
        setTtl: fc.constantFrom(0, 5000),
        instructions: fc.constantFrom('Call the plant.', 'Two\nlines: <b>'),
        mute: fc.boolean(),
        throttle: fc.record({
          by: some([...throttleFields, 'label:env', 'label:__proto__'] as const),
          perMs: fc.constantFrom(1000, hourMs),
        }),
        suppress: fc.record({ when: ruleWhen, equal: some([...throttleFields, 'label:env'] as const) }),
        group: some([...groupFields, 'label:env'] as const),
        acknowledgeForMs: fc.constantFrom(0, hourMs),
      },
      { requiredKeys: [] },
    ),
    continue: fc.oneof({ weight: 2, arbitrary: fc.constant(true) }, fc.constant(false)),
    activeFrom: instant,
    activeUntil: instant,
    windows: fc.array(fc.record({ days: some(weekdays, 7), from: time, until: time }), { maxLength: 2 }),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York'),
    note: fc.constant(''),
  })
  .map((spec) => {
    const backwards =
      spec.activeFrom !== null && spec.activeUntil !== null && spec.activeFrom >= spec.activeUntil;
    return backwards ? { ...spec, activeUntil: null } : spec;
  });

export const subject: fc.Arbitrary<RoutingSubject> = fc
  .record({
    title: text,
    message: text,
    level: fc.constantFrom('success', 'info', 'warning', 'error', 'custom'),
    ttl: fc.option(fc.constantFrom(0, 9000)),
    ...mapOptionalTexts(() => fc.constant(null)),
    labels: labelsTexts,
    ip: fc.option(fc.constantFrom(...addresses)),
    sourceIp: fc.constantFrom(...addresses),
    host: fc.option(fc.constantFrom(...words)),
    key: fc.option(fc.constantFrom(...words)),
    tokenId: fc.constantFrom('t1', 't2'),
    tokenName: fc.constantFrom('ci', 'deploy', 't1'),
  })
  .map((sent) => ({ ...sent, rank: levels.get(sent.level)?.rank ?? 20 }));
