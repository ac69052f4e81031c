import { describe, expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { ruleSpecWith } from '#test/support/rule-spec.ts';
import { createYieldToEventLoop } from '../limits/concurrency.ts';
import { compileRules, compileRulesInSlices, validateRule } from './rules.ts';
import type { RoutingSubject } from './subject.ts';

const levels = new Map([
  ['info', { rank: 20, durationMs: 30_000 }],
  ['warning', { rank: 30, durationMs: 120_000 }],
  ['error', { rank: 40, durationMs: 0 }],
]);
const sent: RoutingSubject = {
  ...noTexts,
  title: 'disk full',
  message: 'm',
  level: 'warning',
  rank: 30,
  ttl: null,
  ip: '10.1.2.3',
  sourceIp: '10.0.0.1',
  host: 'db-1',
  tokenId: 't1',
  tokenName: 'ci',
};
const now = Date.parse('2026-11-02T12:00:00Z');

let nextId = 1;
const rule = (given: Partial<RuleSpec> = {}) => ruleSpecWith({ id: `r${nextId++}`, ...given });
const router = (...rules: RuleSpec[]) => compileRules({ revision: 7, rules }, { levels });
const route = (rules: RuleSpec[], subject = sent) => router(...rules).route(subject, now);
const target = (...rules: RuleSpec[]) => route(rules).route.target;
const noc = { all: false, ids: [], tags: ['noc'] };

describe('with no matching rule', () => {
  test('a notification goes to every panel as it was sent', () => {
    expect(route([])).toEqual({
      level: 'warning',
      rank: 30,
      ttl: 120_000,
      route: { revision: 7, rules: [], muted: false, target: { all: true, ids: [], tags: [] } },
      throttle: [],
    });
    expect(target(rule({ when: { host: ['web-*'] }, then: { panels: 'none' } }))).toMatchObject({
      all: true,
    });
  });
});

describe('the walk', () => {
  const toNoc = { panels: { tags: ['noc'] } };

  test('ends at the first match', () => {
    const rules = [rule({ then: toNoc, name: 'first' }), rule({ then: { panels: 'none', mute: true } })];
    expect(route(rules).route).toMatchObject({
      muted: false,
      target: noc,
      rules: [{ id: rules[0]?.id, name: 'first' }],
    });
  });

  test('skips what is disabled or not active', () => {
    expect(target(rule({ enabled: false, then: { panels: 'none' } }), rule({ then: toNoc }))).toEqual(noc);
    expect(
      target(rule({ activeUntil: '2026-11-02T12:00:00Z', then: { panels: 'none' } }), rule({ then: toNoc })),
    ).toEqual(noc);
    expect(
      target(
        rule({ windows: [{ days: ['tue'], from: '00:00', until: '24:00' }], then: { panels: 'none' } }),
        rule({ then: toNoc }),
      ),
    ).toEqual(noc);
  });

  test('with continue goes on and unites the panels, each once', () => {
    const rules = [
      rule({ continue: true, then: { panels: { ids: ['p1', 'p2'] } } }),
      rule({ continue: true, when: { host: ['web-*'] }, then: { panels: 'all' } }),
      rule({ continue: true, then: { panels: { tags: ['noc'] } } }),
      rule({ then: { panels: { ids: ['p2', 'p3'] } } }),
      rule({ then: { panels: 'all' } }),
    ];
    expect(target(...rules)).toEqual({ all: false, ids: ['p1', 'p2', 'p3'], tags: ['noc'] });
    expect(route(rules).route.rules.map(({ id }) => id)).toEqual([rules[0]?.id, rules[2]?.id, rules[3]?.id]);
  });

  test('tests conditions against what was sent, not what a rule made of it', () => {
    const decision = route([
      rule({ continue: true, then: { setLevel: 'error' } }),
      rule({ continue: true, when: { level: ['error'] }, then: { panels: 'none' } }),
      rule({ when: { minLevel: 'error' }, then: { panels: 'none' } }),
    ]);
    expect(decision).toMatchObject({ level: 'error', rank: 40, route: { target: { all: true } } });
  });
});

describe('panels', () => {
  test('"all" together with others is all', () => {
    expect(
      target(rule({ continue: true, then: { panels: { ids: ['p1'] } } }), rule({ then: { panels: 'all' } })),
    ).toEqual({ all: true, ids: [], tags: [] });
  });

  test('"none" is a choice of panels, and adds nothing to others', () => {
    expect(target(rule({ then: { panels: 'none' } }))).toEqual({ all: false, ids: [], tags: [] });
    expect(
      target(
        rule({ continue: true, then: { panels: 'none' } }),
        rule({ then: { panels: { tags: ['noc'] } } }),
      ),
    ).toEqual(noc);
  });

  test('a rule that names none leaves the choice to the others, and to every panel when there are none', () => {
    expect(
      target(rule({ continue: true, then: { setTtl: 5 } }), rule({ then: { panels: { tags: ['noc'] } } })),
    ).toEqual(noc);
    expect(target(rule({ then: { setTtl: 5 } }))).toMatchObject({ all: true });
  });
});

describe('level and ttl', () => {
  test('a later setLevel and setTtl win', () => {
    const rules = [
      rule({ continue: true, then: { setLevel: 'error', setTtl: 1 } }),
      rule({ continue: true, then: { setLevel: 'info' } }),
      rule({ then: { setTtl: 0 } }),
    ];
    expect(route(rules)).toMatchObject({ level: 'info', rank: 20, ttl: 0 });
  });

  test('the ttl is the rule’s, else the sender’s, else that of the level it ends up with', () => {
    const raised = rule({ then: { setLevel: 'error' } });
    expect(route([rule({ then: { setTtl: 5 } })], { ...sent, ttl: 9 }).ttl).toBe(5);
    expect(route([raised], { ...sent, ttl: 9 }).ttl).toBe(9);
    expect(route([raised], { ...sent, ttl: 0 }).ttl).toBe(0);
    expect(route([raised], sent).ttl).toBe(0);
    expect(route([], sent).ttl).toBe(120_000);
  });

  test('a level nobody has heard of has the rank and duration of info', () => {
    expect(router().rankOf('backup')).toBe(20);
    expect(route([], { ...sent, level: 'backup', rank: 20 })).toMatchObject({
      level: 'backup',
      rank: 20,
      ttl: 30_000,
    });
  });
});

describe('the time of acknowledgements', () => {
  test('is that of the last rule that says it, also when it says 0, and absent without one', () => {
    const rules = [
      rule({ continue: true, then: { acknowledgeForMs: 60_000 } }),
      rule({ continue: true, then: { acknowledgeForMs: 0 } }),
      rule({ then: { setTtl: 5 } }),
    ];
    expect(route(rules).route.acknowledgeForMs).toBe(0);
    expect(route(rules.slice(2)).route).not.toHaveProperty('acknowledgeForMs');
    const muted = rule({ then: { acknowledgeForMs: 60_000, mute: true } });
    expect(route([muted]).route).not.toHaveProperty('acknowledgeForMs');
  });
});

describe('group', () => {
  test('is that of the last rule that says it, and absent without one', () => {
    const rules = [
      rule({ continue: true, then: { group: ['title'] } }),
      rule({ continue: true, then: { group: ['label:cluster', 'level'] } }),
      rule({ then: { setTtl: 5 } }),
    ];
    expect(route(rules).route.group).toEqual(['label:cluster', 'level']);
    expect(route([rule({ then: { setTtl: 5 } })]).route).not.toHaveProperty('group');
  });

  test('is absent when no panel shows it', () => {
    expect(route([rule({ then: { group: ['host'], mute: true } })]).route).not.toHaveProperty('group');
  });
});

describe('mute', () => {
  test('one is enough, whatever the others say, and it reaches no panel', () => {
    const rules = [rule({ continue: true, then: { mute: true } }), rule({ then: { panels: 'all' } })];
    expect(route(rules).route).toMatchObject({ muted: true, target: { all: false, ids: [], tags: [] } });
  });
});

describe('throttle', () => {
  const throttle = { by: ['host' as const], perMs: 60_000 };

  test('asks once for each matching rule that throttles', () => {
    const rules = [
      rule({ continue: true, then: { throttle } }),
      rule({ continue: true, then: { setTtl: 1 } }),
      rule({ then: { throttle: { by: [], perMs: 1000 } } }),
    ];
    expect(route(rules).throttle).toMatchObject([
      { ruleId: rules[0]?.id, perMs: 60_000 },
      { ruleId: rules[2]?.id, perMs: 1000 },
    ]);
  });

  test('asks for nothing when no panel shows it: what nobody saw must not hide the next', () => {
    expect(route([rule({ then: { throttle, mute: true } })]).throttle).toEqual([]);
    expect(route([rule({ then: { throttle, panels: 'none' } })]).throttle).toEqual([]);
  });
});

test('equal decisions share one route, whatever the notification', () => {
  const some = router(
    rule({ continue: true, when: { host: ['db-*'] }, then: { setTtl: 1 } }),
    rule({ continue: true, when: { title: { contains: 'disk' } }, then: { panels: { tags: ['noc'] } } }),
  );
  const routeOf = (changes: Partial<RoutingSubject>) => some.route({ ...sent, ...changes }, now).route;
  expect(routeOf({ message: 'x' })).toBe(routeOf({ message: 'y' }));
  expect(routeOf({ title: 'cpu', message: 'x' })).toBe(routeOf({ title: 'cpu', ip: null }));
  expect(routeOf({ title: 'cpu', host: null })).toBe(routeOf({ title: 'cpu', host: 'web' }));
  expect(routeOf({})).not.toBe(routeOf({ title: 'cpu' }));
});

test('decisions are kept by the bytes of what they name', () => {
  const wide = (host: string) =>
    rule({
      when: { host: [host] },
      then: { panels: { tags: [host.padEnd(1_500_000, '-')] } },
      continue: true,
    });
  const some = router(wide('a'), wide('b'), wide('c'), rule({ then: { setTtl: 1 } }));
  const routeOf = (host: string) => some.route({ ...sent, host }, now).route;
  const first = routeOf('a');
  routeOf('b');
  expect(routeOf('a')).toBe(first);
  routeOf('c');
  expect(routeOf('a')).not.toBe(first);
  expect(routeOf('a')).toEqual(first);
});

describe('rules that cannot work', () => {
  const bad = rule({ name: 'bad', when: { ip: ['10.0.0.0/33'] }, then: { mute: true } });
  const message =
    'rule "bad": when.ip[0]: "10.0.0.0/33" is no address, CIDR block or range; a prefix is 0–32';

  test('are thrown', () => {
    expect(() => router(bad)).toThrow(expect.objectContaining({ code: 'bad-request', message }));
  });

  test('are left out and reported when there is someone to hear of it', () => {
    const heard: unknown[] = [];
    const rules = [
      bad,
      rule({ name: 'gone level', then: { setLevel: 'gone', mute: true } }),
      rule({ then: { panels: { tags: ['noc'] } } }),
    ];
    const some = compileRules(
      { revision: 1, rules },
      { levels, onError: (error, { name }) => heard.push([name, String(error)]) },
    );
    expect(heard).toEqual([
      ['bad', `AppError: ${message}`],
      [
        'gone level',
        'AppError: rule "gone level": then.setLevel: "gone" is no level here; the levels are info, warning, error',
      ],
    ]);
    expect(some.route(sent, now).route).toMatchObject({ muted: false, target: noc });
  });

  test('disabled, they are no trouble', () => {
    expect(router({ ...bad, enabled: false }).route(sent, now).route.rules).toEqual([]);
  });

  test('one that fails on a notification is skipped and reported, and the walk goes on', () => {
    const heard: unknown[] = [];
    const rules = [
      rule({ name: 'fails', when: { title: { regex: 'x' } } }),
      rule({ then: { panels: { tags: ['noc'] } } }),
    ];
    const some = compileRules({ revision: 1, rules }, { levels, onError: (_, { name }) => heard.push(name) });
    const broken = { ...sent, title: undefined as unknown as string };
    expect(some.route(broken, now).route.target).toEqual(noc);
    expect(heard).toEqual(['fails']);
  });
});

describe('a rule is checked when it is saved', () => {
  const check = (given: Partial<RuleSpec>) => () =>
    validateRule(rule({ name: 'x', then: { panels: 'all' }, ...given }), {
      levels,
      panels: new Map([['p1', {}]]),
      channels: new Map([['c1', {}]]),
      onCall: new Map(),
    });

  test.each<[Partial<RuleSpec>, string]>([
    [{ when: { host: [`${'?'.repeat(200)}`] } }, 'rule "x": when.host[0]: '],
    [
      { then: { panels: { ids: ['p1', 'p9'] } } },
      'rule "x": then.panels.ids[1]: "p9" is no panel\'s id; GET /api/panels lists them',
    ],
    [
      { then: { setLevel: 'eror' } },
      'rule "x": then.setLevel: "eror" is no level here; the levels are info, warning, error',
    ],
    [{ timeZone: 'Mars/Olympus' }, 'rule "x": timeZone: "Mars/Olympus" is no time zone'],
    [
      { activeFrom: '2026-11-02T12:00:00Z', activeUntil: '2026-11-02T11:00:00Z' },
      'rule "x": activeUntil: must be after activeFrom',
    ],
    [
      { then: {} },
      'rule "x": then: does nothing; give panels, channels, onCall, setLevel, setTtl, mute, throttle, escalate, instructions, suppress, group or acknowledgeForMs',
    ],
    [
      { then: { mute: false } },
      'rule "x": then: does nothing; give panels, channels, onCall, setLevel, setTtl, mute, throttle, escalate, instructions, suppress, group or acknowledgeForMs',
    ],
    [{ enabled: false, then: {} }, 'rule "x": then: does nothing'],
  ])('%j is refused', (given, message) => {
    expect(check(given)).toThrow(
      expect.objectContaining({ code: 'bad-request', message: expect.stringContaining(message) }),
    );
  });

  test.each<Partial<RuleSpec>>([
    { then: { panels: { tags: ['no panel has it yet'] } } },
    { then: { panels: { ids: ['p1'] } } },
    { then: { setTtl: 0 } },
    { then: { throttle: { by: [], perMs: 1000 } } },
    { then: { group: ['host'] } },
    { when: { level: ['not-seen-yet'], token: ['not made yet'] } },
  ])('%j is allowed', (given) => {
    expect(check(given)).not.toThrow();
  });
});

describe('compiling in slices', () => {
  const rules = Array.from({ length: 400 }, (_, i) =>
    rule({
      id: `r${i}`,
      when: i % 2 ? { title: { regex: `^vm-${i} (up|down)` } } : { host: [`db-${i}*`] },
    }),
  );
  const subjects = rules.map((_, i) => ({ ...sent, title: `vm-${i} up`, host: `db-${i}.example.com` }));

  test('decides as compiling at once does, lets others work meanwhile, and takes over what stayed the same', async () => {
    const atOnce = compileRules({ revision: 1, rules }, { levels });
    let pauses = 0;
    const everyStep = () => {
      pauses += 1;
      return pauses % 100 === 0 ? Promise.resolve() : undefined;
    };
    const sliced = await compileRulesInSlices(
      { revision: 1, rules },
      { levels },
      { yieldToEventLoop: everyStep },
    );
    expect(pauses).toBeGreaterThan(3 * rules.length);
    for (const one of subjects) expect(sliced.route(one, 0)).toEqual(atOnce.route(one, 0));

    const changed = [...rules.slice(1), rule({ id: 'r0', when: { host: ['elsewhere'] } })];
    const next = await compileRulesInSlices(
      { revision: 2, rules: changed },
      { levels },
      { yieldToEventLoop: createYieldToEventLoop(), previous: sliced },
    );
    expect(next.rules[0]?.conditions).toBe(sliced.rules[1]?.conditions);
    const anew = compileRules({ revision: 2, rules: changed }, { levels });
    for (const one of subjects) expect(next.route(one, 0)).toEqual(anew.route(one, 0));
  });
});
