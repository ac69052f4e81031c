import fc from 'fast-check';
import { RE2JS } from 're2js';
import { describe, expect, test, vi } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import type { RuleSpec, RuleWhen } from '#contract/routing/rule.ts';
import { Explainer } from './explain.ts';
import { draftRouter } from './explain-request.ts';
import {
  compileRegex,
  maxRegexSize,
  maxRegexWeight,
  prepareRegexes,
  RegexTime,
  regexWorkPerNotification,
} from './regex.ts';
import { compileRules, newRule, validateRule } from './rules.ts';
import { EvaluationContext, type RoutingSubject } from './subject.ts';

const finds = (pattern: string, text: string) => compileRegex(pattern, 'x').test(text);

test.each([
  ['disk', 'the disk is full', true],
  ['disk', 'Disk', false],
  ['(?i)disk', 'DISK', true],
  ['(?i)k', 'K', true],
  ['^disk', 'disk full', true],
  ['^disk', 'a disk', false],
  ['full$', 'disk full', true],
  ['full$', 'disk full\n', false],
  ['(?m)full$', 'disk full\nnext', true],
  ['^$', '', true],
  ['^$', 'x', false],
  ['', '', true],
  ['x*', '', true],
  ['$', 'abc', true],
  ['a.c', 'a\nc', false],
  ['(?s)a.c', 'a\nc', true],
  ['^.$', '😀', true],
  ['\\bdb\\b', 'the db is', true],
  ['\\bdb\\b', 'dbs', false],
  ['\\Bdb', 'xdb', true],
  ['\\Bdb', 'x db', false],
  ['db-\\d{2,3}$', 'db-1', false],
  ['db-\\d{2,3}$', 'db-1234', false],
  ['^db-\\d{2,3}$', 'db-123', true],
  ['\\p{Greek}+', 'the Ω', true],
  ['[^a-z]', 'abc', false],
  ['(error|warn(ing)?): ', 'a warning: b', true],
  ['a\\.b', 'axb', false],
  ['\\Qa.b\\E', 'a.b', true],
])('%j finds something in %j: %s', (pattern, text, expected) => {
  expect(finds(pattern, text)).toBe(expected);
});

describe('any pattern on any text', () => {
  const atom = fc.constantFrom(
    'a',
    'b',
    '1',
    ' ',
    '.',
    '\\n',
    '[ab]',
    '[^a]',
    '\\d',
    '\\w',
    '\\W',
    '\\b',
    '\\B',
    '^',
    '$',
    '\\A',
    '\\z',
    '(?i)A',
    '(?i:k)',
    '(?s:.)',
    '(?m:^)',
    '(?m:$)',
    '\\pL',
    'é',
    '😀',
    '[\\x{100}-\\x{2ff}]',
  );
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      atom,
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `(?:${a}|${b})`),
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,3}', '*?', '{1,}'))
        .map(([a, b]) => `(${a})${b}`),
    ),
  }));
  const unit = fc.constantFrom(
    'a',
    'b',
    'A',
    'B',
    'k',
    'K',
    '1',
    ' ',
    '\n',
    '_',
    'é',
    'É',
    'ı',
    '😀',
    'ǅ',
    '\ud800',
  );
  const text = fc.string({ unit, maxLength: 12 });

  test('gives what re2js gives, from the first text on and after many', () => {
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (source, texts) => {
        const theirs = RE2JS.compile(source);
        const ours = compileRegex(source, 'x');
        for (const sent of texts) expect(ours.test(sent)).toBe(theirs.test(sent));
      }),
      { numRuns: 1500 },
    );
  });
});

describe('the work of one match', () => {
  const hostile = [
    '(a+)+$',
    '(a|a)*b',
    '(a*)*c',
    '(.*)*x',
    '(a|b|ab)*c',
    '([ab]+)*d',
    '(.*a){20}!',
    '(?:a?){50}a{50}!',
    '[ab]*a[ab]{100}c[^c]',
    '(x+x+)+y',
    '\\b(a+)+\\b!',
    '\\pL{250}',
  ];
  const longest = 'a'.repeat(limits.messageChars);

  test.each(hostile)('of %s has a limit, which every title is within', (pattern) => {
    const regex = compileRegex(pattern, 'x');
    expect(regex.maxChars).toBeGreaterThan(limits.titleChars);
    expect(regex.work(longest)).toBeLessThanOrEqual(65_536);
    expect(regex.work('a'.repeat(200))).toBe(2 * regex.work('a'.repeat(100)));
  });

  test('is that of the characters that are read: it matches in them, and not after them', () => {
    const regex = compileRegex('[ab]{20}!', 'x');
    const bangAfter = (count: number) => `${'a'.repeat(count)}!${'a'.repeat(limits.messageChars)}`;
    expect(regex.maxChars).toBeLessThan(limits.messageChars);
    expect(regex.test(bangAfter(regex.maxChars - 1))).toBe(true);
    expect(regex.test(bangAfter(regex.maxChars))).toBe(false);
  });

  test('with more states than are kept, the answer is still right', () => {
    const pattern = 'a[ab]{20}c';
    const regex = compileRegex(pattern, 'x');
    const noise = Array.from({ length: 2_000 }, (_, i) => 'ab'[(Math.imul(i, 0x9e3779b1) >>> 15) & 1]).join(
      '',
    );
    for (const sent of [
      noise,
      `${noise}a${'b'.repeat(20)}c`,
      `${noise}b${'ab'.repeat(10)}c`,
      `${noise}a${'ab'.repeat(10)}c`,
    ]) {
      expect(sent.length).toBeLessThanOrEqual(regex.maxChars);
      expect(regex.test(sent)).toBe(RE2JS.compile(pattern).test(sent));
    }
  });
});

test('a pattern in use is compiled once', () => {
  expect(compileRegex('^once$', 'x')).toBe(compileRegex('^once$', 'y'));
});

describe('what cannot work is refused with a way out', () => {
  test.each([
    [
      '(a)\\1',
      'x: "(a)\\1" is no regular expression of RE2: invalid escape sequence: `\\1`; there are no back-references',
    ],
    [
      '(?=a)b',
      'x: "(?=a)b" is no regular expression of RE2: invalid or unsupported Perl syntax: `(?=`; there is no look-around, use "not" for what must be absent',
    ],
    [
      '(?<!a)b',
      'x: "(?<!a)b" is no regular expression of RE2: invalid named capture: `(?<!a)b`; there is no look-around, use "not" for what must be absent',
    ],
    ['(', 'x: "(" is no regular expression of RE2: missing closing ): `(`'],
    ['[z-a]', 'x: "[z-a]" is no regular expression of RE2: invalid character class range: `z-a`'],
    [
      '[ab]{500}',
      `x: "[ab]{500}" is too large: it comes to 502 instructions with its repetitions written out, the most is ${maxRegexSize}; write a list of shorter ones`,
    ],
    ['a'.repeat(1001), 'x: a regular expression has at most 1000 characters'],
  ])('%s', (pattern, message) => {
    expect(() => compileRegex(pattern, 'x')).toThrow(
      expect.objectContaining({ code: 'bad-request', message }),
    );
  });

  test('nothing that can be written throws anything else', () => {
    const unit = fc.constantFrom(
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '?',
      '*',
      '+',
      '\\',
      '^',
      '$',
      '|',
      'a',
      '1',
      ',',
      '<',
      '=',
      ':',
      'p',
      'Q',
      '-',
      '\ud800',
    );
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), (source) => {
        try {
          compileRegex(source, 'x').test('a1');
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad-request' });
        }
      }),
      { numRuns: 2000 },
    );
  });
});

const levels = new Map([['info', { rank: 20, durationMs: 30_000 }]]);
const sent: RoutingSubject = {
  ...noTexts,
  title: 'T',
  message: '',
  level: 'info',
  rank: 20,
  ttl: null,
  sourceIp: '192.0.2.7',
  tokenId: 'tok',
  tokenName: 'ci',
};
const rule = (id: string, when: RuleWhen, over: Partial<RuleSpec> = {}): RuleSpec => ({
  ...newRule(id, { name: id, when, then: { panels: { tags: [id] } } }, 'UTC'),
  ...over,
});
/** Tested on every notification, nothing in it can be looked up, and none of it matches. */
const costly = (i: number) => `[ab]*a[ab]{112}[cd]${i}`;
const longest = Array.from({ length: 16_384 }, (_, i) => 'ab'[(i * i * 7919) & 1]).join('');

/** Counts the work that is spent until the end of its scope. */
function countWork() {
  const original = EvaluationContext.prototype.spend;
  const counted = { spent: 0, [Symbol.dispose]: () => spy.mockRestore() };
  const spy = vi.spyOn(EvaluationContext.prototype, 'spend').mockImplementation(function (
    this: EvaluationContext,
    work,
  ) {
    original.call(this, work);
    counted.spent += work;
  });
  return counted;
}

describe('a tenant of a thousand of the slowest patterns', () => {
  const patterns = Array.from({ length: 800 }, (_, i) => costly(i));
  const rules = [
    rule('slow', { message: { regex: patterns } }),
    rule('negated', { not: { message: { regex: patterns } } }, { then: { mute: true } }),
    rule('plain', { title: { contains: 'T' } }),
  ];

  test('holds a notification up by no more than the work there is for one, and its other rules go on', async () => {
    const heard: string[] = [];
    const router = compileRules(
      { revision: 1, rules },
      { levels, onError: (error, { name }) => heard.push(`${name}: ${(error as Error).message}`) },
    );
    const one = { ...sent, message: longest };
    using work = countWork();
    // A rule that was not tested to its end matches neither as it is nor negated: nothing is muted by mistake.
    expect(router.route(one, 0).route).toMatchObject({ muted: false, rules: [{ id: 'plain' }] });
    expect(work.spent).toBeLessThanOrEqual(regexWorkPerNotification);
    router.route(one, 0);
    expect(heard).toEqual([
      'slow: the regular expressions of the rules, and globs with ?, took all the time there is',
    ]);
    const question = { router, subject: one, at: 0 };
    const { decision, rules: traces } = await new Explainer(() => 0).explain(1, question);
    expect(decision.route.rules).toEqual([{ id: 'plain', name: 'plain' }]);
    expect(traces[0]?.reason).toMatch(/^skipped: the regular expressions/);
  });

  test('globs with ? are held to the same work', () => {
    const globs = Array.from({ length: 100 }, (_, i) => `*${'a?'.repeat(50 + (i % 10))}c?*`);
    const slow = rule('slow', { message: { glob: globs } });
    const router = compileRules(
      { revision: 1, rules: [slow, ...rules.slice(2)] },
      { levels, onError: () => undefined },
    );
    expect(router.regexWeight).toBeGreaterThan(0);
    using work = countWork();
    expect(router.route({ ...sent, message: longest }, 0).route.rules).toMatchObject([{ id: 'plain' }]);
    expect(work.spent).toBeGreaterThan(regexWorkPerNotification / 2);
    expect(work.spent).toBeLessThanOrEqual(regexWorkPerNotification);
    // With one of them there is enough for the longest message.
    const one = compileRules(
      { revision: 1, rules: [rule('slow', { message: { glob: globs[0] as string } })] },
      { levels },
    );
    expect(one.route({ ...sent, message: longest }, 0).route.rules).toEqual([]);
  });

  test('is explained for at most twice the work, and lets others work meanwhile', async () => {
    using work = countWork();
    const each = patterns.slice(0, 40).map((pattern, i) => rule(`r${i}`, { message: { regex: pattern } }));
    const router = compileRules({ revision: 1, rules: each }, { levels });
    const question = { router, subject: { ...sent, message: longest }, at: 0 };
    let pauses = 0;
    await new Explainer(() => 0).explain(1, question, () => {
      pauses += 1;
      return undefined;
    });
    expect(work.spent).toBeGreaterThan(regexWorkPerNotification);
    expect(work.spent).toBeLessThanOrEqual(2 * regexWorkPerNotification);
    expect(pauses).toBe(40);
  });

  test('has a time for being explained, and a wait once it is used up; no other tenant waits', async () => {
    const router = compileRules({ revision: 1, rules }, { levels });
    const question = { router, subject: { ...sent, message: longest }, at: 0 };
    let now = 0;
    const explainer = new Explainer(() => now);
    const exhaust = async () => {
      for (;;) await explainer.explain(1, question);
    };
    await expect(exhaust()).rejects.toMatchObject({ code: 'rate-limited' });
    expect((await explainer.explain(2, question)).rules).toHaveLength(3);
    now += 60_000;
    expect((await explainer.explain(1, question)).rules).toHaveLength(3);
  });

  test('with no work left, only rules with regular expressions are skipped', () => {
    const router = compileRules(
      { revision: 1, rules: [rule('regex', { title: { regex: '^T' } }), rule('plain', {})] },
      { levels },
    );
    expect(router.route(sent, 0).route.rules).toMatchObject([{ id: 'regex' }]);
    expect(router.route(sent, 0, 0).route.rules).toMatchObject([{ id: 'plain' }]);
  });

  test('fifty usual patterns on a usual message and three hundred on a title are within what there is', () => {
    const usual = (count: number) => Array.from({ length: count }, (_, i) => `(?i)(disk|cpu) of vm-${i}$`);
    const router = compileRules(
      {
        revision: 1,
        rules: [
          rule('message', { message: { regex: usual(50) } }, { continue: true }),
          rule('title', { title: { regex: usual(300) } }),
        ],
      },
      {
        levels,
        onError: (error) => {
          throw error;
        },
      },
    );
    const message = `${'usage is high on this machine; '.repeat(12)}the CPU of vm-49`;
    const title = 'Warning: the average load is high on the CPU of vm-299';
    expect(router.route({ ...sent, title, message }, 0).route.rules).toHaveLength(2);
  });
});

describe('a message that is longer than a pattern reads', () => {
  const pattern = `[ab]{40}${'x'.repeat(40)}`;
  const late = `${longest.slice(0, 10_000)}${'x'.repeat(40)}`;
  const early = `${'a'.repeat(40)}${'x'.repeat(40)}${longest}`;
  const heard: string[] = [];
  const router = compileRules(
    {
      revision: 1,
      rules: [
        rule('not', { not: { message: { regex: pattern } } }, { then: { mute: true } }),
        rule('is', { message: { regex: ['nothing like it', pattern] } }, { continue: true }),
        rule('plain', {}),
      ],
    },
    { levels, onError: (error, { name }) => heard.push(`${name}: ${(error as Error).message}`) },
  );
  const routed = (message: string) => router.route({ ...sent, message: message.slice(0, 16_384) }, 0).route;

  test('matches in its beginning; what comes after it neither matches nor is excluded', () => {
    expect(routed(early).rules).toMatchObject([{ id: 'is' }, { id: 'plain' }]);
    expect(routed(late)).toMatchObject({ muted: false, rules: [{ id: 'plain' }] });
    expect(routed('short')).toMatchObject({ muted: true, rules: [{ id: 'not' }] });
    expect(heard).toEqual(['not: a message is longer than its regular expressions read']);
  });

  test('is explained', async () => {
    const question = { router, subject: { ...sent, message: late }, at: 0 };
    const { rules } = await new Explainer(() => 0).explain(1, question);
    expect(rules.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^skipped: the message is longer/),
      expect.stringMatching(/^skipped: the message is longer/),
      expect.stringMatching(/stops here$/),
    ]);
  });
});

describe('what a tenant may keep', () => {
  const patternsOf = (count: number) => Array.from({ length: count }, (_, i) => costly(i));
  const surroundings = { levels, panels: new Map(), channels: new Map(), onCall: new Map() };

  test('a rule beyond it is refused, alone or next to those in force; one that costs less than before is not', () => {
    const heavy = rule('a', { message: { regex: patternsOf(500) } });
    const router = compileRules({ revision: 1, rules: [heavy] }, { levels });
    expect(router.regexWeight).toBeGreaterThan(maxRegexWeight / 2);
    const other = rule('b', { title: { regex: patternsOf(500) } });
    expect(() => validateRule(other, surroundings)).not.toThrow();
    expect(() => validateRule(other, { ...surroundings, router })).toThrow(
      /rule "b": the regular expressions of all rules, and globs with \?, come to \d+ characters, the most is 100000/,
    );
    expect(() => validateRule({ ...other, id: 'a' }, { ...surroundings, router })).not.toThrow();
    expect(() => validateRule(rule('c', {}), { ...surroundings, router })).not.toThrow();
  });

  test('a draft beyond it is refused before all of it is compiled, and lets others work meanwhile', async () => {
    const drafts = Array.from({ length: 20_000 }, (_, i) => ({
      name: `r${i}`,
      when: { message: { regex: costly(i) } },
      then: { mute: true },
    }));
    let pauses = 0;
    const count = () => {
      pauses += 1;
      return undefined;
    };
    const record = { timeZone: 'UTC' };
    const snapshot = { ...surroundings, record } as unknown as Parameters<typeof draftRouter>[1];
    await expect(draftRouter(drafts, snapshot, count)).rejects.toThrow(/the most is 100000/);
    expect(pauses).toBeGreaterThan(500);
    expect(pauses).toBeLessThan(1_000);
  });
});

test('a draft is compiled up to the first pattern that is refused', async () => {
  const drafts = ['a', '[ab]{1000}', 'b'].map((regex) => rule(regex, { title: { regex } }));
  let compiled = 0;
  const count = () => {
    compiled += 1;
    return undefined;
  };
  await prepareRegexes(drafts, count, { limited: true });
  expect(compiled).toBe(1);
});

describe('the time a tenant has', () => {
  test('runs out, comes back, and is no other tenant’s', () => {
    const time = new RegexTime();
    expect(time.allowance(1, 0)).toBe(regexWorkPerNotification);
    for (let i = 0; i < 40; i++) time.spend(1, 30, 0);
    expect(time.allowance(1, 0)).toBe(0);
    expect(time.allowance(2, 0)).toBe(regexWorkPerNotification);
    expect(time.allowance(1, 2_000)).toBe(regexWorkPerNotification);
    // A clock that jumps back gives nothing and takes nothing.
    expect(time.allowance(1, 1_000)).toBe(regexWorkPerNotification);
  });

  test('is not used up by what routing takes anyway', () => {
    const time = new RegexTime();
    for (let i = 0; i < 100_000; i++) time.spend(1, 0.05, 0);
    expect(time.allowance(1, 0)).toBe(regexWorkPerNotification);
  });
});
