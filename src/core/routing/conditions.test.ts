import { describe, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { RuleWhen } from '#contract/routing/rule.ts';
import { compileConditions } from './conditions.ts';
import { EvaluationContext, type RoutingSubject } from './subject.ts';

const levels = new Map([
  ['success', { rank: 10, durationMs: 15_000 }],
  ['info', { rank: 20, durationMs: 30_000 }],
  ['warning', { rank: 30, durationMs: 120_000 }],
  ['error', { rank: 40, durationMs: 0 }],
  ['critical', { rank: 50, durationMs: 0 }],
]);

const sent: RoutingSubject = {
  title: 'Disk full on DB-01',
  message: 'Only 1 % left.\n/var is at 99 %',
  level: 'warning',
  rank: 30,
  ttl: null,
  ...noTexts,
  ip: '10.1.2.3',
  sourceIp: '2001:db8::7',
  host: 'db-01.example.com',
  key: 'disk/db-01',
  labels: '{"Env":"Prod","__proto__":"","site":"plant 2"}',
  tokenId: 'tok1234567',
  tokenName: 'ci',
};
const bare: RoutingSubject = { ...sent, ...noTexts };

const compile = (when: RuleWhen) => compileConditions(when, levels);
const holds = (when: RuleWhen, subject = sent) =>
  compile(when).every((condition) => condition.holds(new EvaluationContext(subject)));
const reasons = (when: RuleWhen, subject = sent) =>
  compile(when)
    .filter((condition) => !condition.holds(new EvaluationContext(subject)))
    .map((condition) => `${condition.name}: ${condition.reason(new EvaluationContext(subject))}`);

const table: [when: RuleWhen, holds: boolean][] = [
  [{}, true],
  [{ level: ['warning'] }, true],
  [{ level: ['error', 'warning'] }, true],
  [{ level: ['error'] }, false],
  [{ level: ['never-heard-of'] }, false],
  [{ minLevel: 'info' }, true],
  [{ minLevel: 'warning' }, true],
  [{ minLevel: 'error' }, false],
  [{ token: ['ci'] }, true],
  [{ token: ['tok1234567'] }, true],
  [{ token: ['CI'] }, false],
  [{ host: ['db-*'] }, true],
  [{ host: ['DB-01.EXAMPLE.COM'] }, true],
  [{ host: ['web-*', '*.example.com'] }, true],
  [{ host: ['db-0?.example.com'] }, true],
  [{ host: ['db-01'] }, false],
  [{ key: ['disk/*'] }, true],
  [{ key: ['DISK/DB-01'] }, true],
  [{ key: ['disk'] }, false],
  [{ labels: { env: ['prod'] } }, true],
  [{ labels: { ENV: ['PRO?'], site: ['plant*', 'x'] } }, true],
  [{ labels: { env: ['stag*', 'prod'], site: ['*'] } }, true],
  [{ labels: { env: ['*'], region: ['*'] } }, false],
  [{ labels: { env: ['stag*'] } }, false],
  [{ labels: { env: ['prod'], site: ['plant 3'] } }, false],
  [{ labels: { constructor: ['*'] } }, false],
  [{ labels: JSON.parse('{"__proto__":["*"]}') }, true],
  [{ labels: JSON.parse('{"__proto__":["?*"]}') }, false],
  [{ labels: { site: [''] } }, false],
  [{ ip: ['10.1.2.3'] }, true],
  [{ ip: ['10.0.0.0/8'] }, true],
  [{ ip: ['10.1.2.0-10.1.2.9'] }, true],
  [{ ip: ['192.168.0.0/16', '10.1.0.0/16'] }, true],
  [{ ip: ['::ffff:10.1.2.3'] }, true],
  [{ ip: ['192.168.0.0/16'] }, false],
  [{ sourceIp: ['2001:db8::/32'] }, true],
  [{ sourceIp: ['2001:db8::1-2001:db8::f'] }, true],
  [{ sourceIp: ['0.0.0.0/0'] }, false],
  [{ title: { contains: 'disk FULL' } }, true],
  [{ title: { contains: ['cpu', 'disk'] } }, true],
  [{ title: { contains: 'memory' } }, false],
  [{ title: { glob: 'disk*' } }, true],
  [{ title: { glob: ['cpu*', '*DB-01'] } }, true],
  [{ title: { glob: 'disk' } }, false],
  [{ title: { regex: '^Disk' } }, true],
  [{ title: { regex: '^disk' } }, false],
  [{ title: { regex: '(?i)^disk' } }, true],
  [{ title: { regex: ['^CPU', '\\bDB-\\d+$'] } }, true],
  [{ message: { contains: '/VAR' } }, true],
  [{ message: { glob: 'only*99 %' } }, true],
  [{ message: { regex: '(?m)^/var' } }, true],
  [{ message: { regex: '^/var' } }, false],
  [{ host: ['db-*'], minLevel: 'warning', title: { regex: '^Disk' } }, true],
  [{ host: ['db-*'], minLevel: 'error', title: { regex: '^Disk' } }, false],
];

describe('all conditions must hold, of a list one is enough', () => {
  test.each(table)('%j: %s', (when, expected) => {
    expect(holds(when)).toBe(expected);
  });
});

describe('under `not`, each must fail to hold', () => {
  test.each(table.filter(([when]) => Object.keys(when).length === 1))(
    'not %j: the opposite of %s',
    (when, expected) => {
      expect(holds({ not: when })).toBe(!expected);
    },
  );

  test('one of two that holds is one too many', () => {
    expect(holds({ not: { host: ['web-*'], title: { contains: 'cpu' } } })).toBe(true);
    expect(holds({ not: { host: ['web-*'], title: { contains: 'disk' } } })).toBe(false);
  });

  test('the rest must hold beside it', () => {
    expect(holds({ ip: ['10.0.0.0/8'], not: { ip: ['10.9.0.0/16'] } })).toBe(true);
    expect(holds({ ip: ['10.0.0.0/8'], not: { ip: ['10.1.0.0/16'] } })).toBe(false);
    expect(holds({ ip: ['172.16.0.0/12'], not: { ip: ['10.9.0.0/16'] } })).toBe(false);
  });
});

describe('what was not sent', () => {
  test.each<RuleWhen>([
    { ip: ['0.0.0.0/0', '::/0'] },
    { host: ['*'] },
    { key: ['*'] },
    { labels: { env: ['*'] } },
  ])('%j does not hold, and holds under not', (when) => {
    expect(holds(when, bare)).toBe(false);
    expect(holds({ not: when }, bare)).toBe(true);
  });
});

describe('a reason is a sentence', () => {
  test.each<[RuleWhen, RoutingSubject, string]>([
    [{ level: ['error'] }, sent, 'level: level warning is not error'],
    [{ level: ['error', 'critical'] }, sent, 'level: level warning is none of error, critical'],
    [{ minLevel: 'error' }, sent, 'minLevel: level warning (30) is below error (40)'],
    [{ token: ['deploy'] }, sent, 'token: token "ci" is not "deploy"'],
    [{ host: ['web-*'] }, sent, 'host: host "db-01.example.com" does not match web-*'],
    [
      { host: ['a*', 'b*', 'c*', 'x', 'y', 'z', 'q'] },
      sent,
      'host: host "db-01.example.com" matches none of a*, b*, c*, x, y and 2 more',
    ],
    [{ host: ['web-*'] }, bare, 'host: no host was sent; it does not match web-*'],
    [{ labels: { env: ['stag*'] } }, sent, 'labels.env: label env "prod" does not match stag*'],
    [{ labels: { env: ['a', 'b*'] } }, sent, 'labels.env: label env "prod" matches none of a, b*'],
    [{ labels: { region: ['eu'] } }, sent, 'labels.region: no label region was sent; it does not match eu'],
    [
      { not: { labels: { env: ['prod'], site: ['plant*', 'x'] } } },
      sent,
      'not.labels: label env "prod", label site "plant 2" is excluded (env=prod with site=plant*, x)',
    ],
    [{ ip: ['10.9.0.0/16'] }, sent, 'ip: ip 10.1.2.3 is not in 10.9.0.0/16'],
    [{ ip: ['10.9.0.0/16'] }, bare, 'ip: no ip was sent; it is not in 10.9.0.0/16'],
    [
      { sourceIp: ['10.9.0.0/16', '::1'] },
      sent,
      'sourceIp: source IP 2001:db8::7 is in none of 10.9.0.0/16, ::1',
    ],
    [{ title: { contains: 'cpu' } }, sent, 'title: title "Disk full on DB-01" does not contain "cpu"'],
    [{ title: { regex: '^cpu' } }, sent, 'title: title "Disk full on DB-01" does not match /^cpu/'],
    [
      { message: { contains: ['a', 'cpu'] } },
      { ...sent, message: 'x' },
      'message: the message contains none of "a", "cpu"',
    ],
    [{ not: { host: ['db-*'] } }, sent, 'not.host: host "db-01.example.com" is excluded (db-*)'],
    [
      { not: { minLevel: 'info' } },
      sent,
      'not.minLevel: level warning (30) is excluded (info (20) and above)',
    ],
    [
      { not: { title: { contains: 'disk' } } },
      sent,
      'not.title: title "Disk full on DB-01" is excluded (contains "disk")',
    ],
  ])('%j', (when, subject, reason) => {
    expect(reasons(when, subject)).toEqual([reason]);
  });
});

describe('what can never work is refused, with its place', () => {
  test.each<[RuleWhen, string]>([
    [
      { ip: ['10.0.0.0/33'] },
      'when.ip[0]: "10.0.0.0/33" is no address, CIDR block or range; a prefix is 0–32',
    ],
    [
      { not: { sourceIp: ['::1', 'x'] } },
      'when.not.sourceIp[1]: "x" is no address, CIDR block or range; write 10.0.0.5, 10.0.0.0/8 or 10.0.0.1-10.0.0.9, in v4 or v6',
    ],
    [
      { minLevel: 'eror' },
      'when.minLevel: "eror" is no level here; the levels are success, info, warning, error, critical',
    ],
    [
      { title: { regex: '(a)\\1' } },
      'when.title.regex: "(a)\\1" is no regular expression of RE2: invalid escape sequence: `\\1`; there are no back-references',
    ],
    [
      { not: { message: { regex: ['a', '['] } } },
      'when.not.message.regex[1]: "[" is no regular expression of RE2: missing closing ]: `[`',
    ],
  ])('%j', (when, message) => {
    expect(() => compile(when)).toThrow(expect.objectContaining({ code: 'bad-request', message }));
  });
});
