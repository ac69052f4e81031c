/** Polling, with an HTTP server in the place of Alertmanager. */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Answered, ChannelAnswer } from '#core/channels/answers.ts';
import type { ChannelRecord } from '#core/channels/channels.ts';
import { createOutbound, type Outbound } from '#outbound/outbound.ts';
import { eventually } from '#test/support/eventually.ts';
import { Receiver } from '#test/support/receiver.ts';
import { AlertmanagerSilences } from './alertmanager.ts';
import type { SourceOptions } from './source.ts';

let receiver: Receiver;
let source: AlertmanagerSilences | undefined;
let alerts: unknown;
let silences: unknown;
/** The records of alarms on the shelf before the start. */
let shelved: object[];
let answers: ChannelAnswer[];
let problems: string[];
let working: number;
/** When all alarms began. */
let since: number;
let outcome: (answer: ChannelAnswer) => Answered | undefined;
beforeEach(async () => {
  [alerts, silences, shelved, answers, problems, outcome] = [[], [], [], [], [], () => 'done'];
  working = 0;
  since = 1;
  receiver = await Receiver.start();
  receiver.answer = ({ path }) => {
    const answer = path.startsWith('/am/api/v2/alerts?') ? alerts : silences;
    return typeof answer === 'number'
      ? { status: answer, body: 'hunter2' }
      : { body: typeof answer === 'string' ? answer : JSON.stringify(answer) };
  };
});
afterEach(async () => {
  await source?.close();
  source = undefined;
  await receiver.close();
});

const alertOf = (fingerprint: string, ids = ['s1'], over: object = {}) => ({
  ...{ fingerprint, labels: { alertname: 'Disk' }, startsAt: 'a', status: { silencedBy: ids } },
  ...over,
});
const silenceOf = (id: string, over: object = {}) => ({
  ...{ id, status: { state: 'active' }, createdBy: 'Ann', comment: 'x', endsAt: '2030-01-01T00:00:00Z' },
  ...over,
});
function start({
  url = `${receiver.url}/am`,
  labels,
  tenant = 1,
  outbound = createOutbound(['127.0.0.1']),
}: StartOptions = {}) {
  const channel = { tenant, id: 'c', name: 'am', kind: 'alertmanager' } as unknown as ChannelRecord;
  const options: SourceOptions = {
    ...{ channel, tenant: 'acme', outbound },
    setup: {
      id: 'c',
      settings: { url, user: 'u', ...(labels && { labels }) },
      secrets: { password: 'hunter2' },
    },
    context: {
      now: () => 0,
      history: {
        alarms: async () => ({ places: shelved.map((_, position) => ({ position })), counts: {} }),
        recordsAt: async () => shelved,
        findLive: async (_tenant: number, alarm: string) => alarm,
        find: async () => ({ alarm: { since } }),
      },
    } as never,
    onAnswer: async (answer) => {
      answers.push(answer);
      return outcome(answer);
    },
    ...{ showAnswer: async () => undefined, onLost: () => undefined, onRefused: () => undefined },
    onProblem: ({ message }) => problems.push(message),
    onWorking: () => working++,
  };
  source = new AlertmanagerSilences(options, 20);
}
interface StartOptions {
  readonly url?: string;
  readonly labels?: string;
  readonly tenant?: number;
  readonly outbound?: Outbound;
}
const polls = () => receiver.received.filter(({ path }) => path.includes('alerts')).length;
const polled = (count: number) =>
  eventually(() => expect(polls()).toBeGreaterThanOrEqual(count), { timeout: 60_000 });
/** The poll that is under way counts, and a whole one after it. */
const polledAgain = () => polled(polls() + 2);

test('after ten polls, a silence was followed once, with the login of the channel', async () => {
  [alerts, silences] = [[alertOf('f1')], [silenceOf('s1'), silenceOf('s2')]];
  start();
  await polled(10);
  const until = Date.parse('2030-01-01T00:00:00Z');
  expect(answers).toEqual([
    {
      ...{ kind: 'shelve', alarm: 'alertmanager:f1', isFromThere: true, isSilence: true },
      ...{ by: 'Ann (am)', note: 'x', until },
    },
  ]);
  expect(receiver.received[0]).toMatchObject({
    method: 'GET',
    path: '/am/api/v2/alerts?active=false&silenced=true&inhibited=true&unprocessed=false',
    headers: { authorization: `Basic ${Buffer.from('u:hunter2').toString('base64')}` },
  });
});

test('sixteen answers are fetched at a time, of all channels together', async () => {
  const answered = Promise.withResolvers<void>();
  let requests = 0;
  const outbound = {
    request: async () => {
      requests += 1;
      await answered.promise;
      return { status: 200, headers: {}, body: '[]' };
    },
  } as unknown as Outbound;
  const sources = Array.from({ length: 20 }, (_, tenant) => {
    start({ tenant, outbound });
    return source;
  });
  onTestFinished(async () => void (await Promise.all(sources.map((each) => each?.close()))));
  // Each channel begins with a request, in the turn in which it was started.
  await new Promise(setImmediate);
  expect(requests).toBe(16);
  answered.resolve();
  await expect.poll(() => requests, { timeout: 60_000 }).toBeGreaterThan(20);
});

test('a tenant whose Alertmanagers do not answer delays no other tenant', async () => {
  const silent = {
    request: async (_: unknown, { signal }: { signal: AbortSignal }) => {
      await once(signal, 'abort');
      throw signal.reason;
    },
  } as unknown as Outbound;
  const sources = Array.from({ length: 20 }, () => {
    start({ tenant: 1, outbound: silent });
    return source;
  });
  onTestFinished(async () => void (await Promise.all(sources.map((each) => each?.close()))));
  start({ tenant: 2 });
  await polled(3);
});

test('without silenced alerts, silences are not asked for', async () => {
  start();
  await polled(2);
  expect(receiver.received.every(({ path }) => path.includes('alerts'))).toBe(true);
});

test('an alarm comes back once no silence covers it, not while Alertmanager answers of two moments', async () => {
  [alerts, silences] = [[alertOf('f1', ['s1', 's2'])], [silenceOf('s1')]];
  start();
  await eventually(() => expect(answers).toHaveLength(1));
  // The silence was replaced between the two answers.
  silences = [silenceOf('s3')];
  await polledAgain();
  expect(answers).toHaveLength(1);
  // The alert has ended before its silence.
  [alerts, silences] = [[], [silenceOf('s2')]];
  await polledAgain();
  expect(answers).toHaveLength(1);
  silences = [silenceOf('s1', { status: { state: 'expired' } })];
  await eventually(() => expect(answers).toHaveLength(2));
  await polledAgain();
  expect(answers.slice(1)).toEqual([
    {
      ...{ kind: 'unshelve', alarm: 'alertmanager:f1', isFromThere: true, isSilence: true },
      ...{ by: 'am', note: null },
    },
  ]);
});

test('an alarm that one of two answers has as covered stays on the shelf', async () => {
  [alerts, silences] = [[alertOf('f1')], [silenceOf('s1')]];
  start();
  await eventually(() => expect(answers).toHaveLength(1));
  receiver.answer = ({ path }) => {
    const isEmpty = polls() % 2 === 0;
    return { body: JSON.stringify(isEmpty ? [] : path.includes('alerts') ? alerts : silences) };
  };
  await polled(polls() + 10);
  expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['shelve']));
});

test('after a start, the shelves of the channel are compared with the silences', async () => {
  const shelf = (by: string, note: string) => ({
    alarm: { shelved: { at: 1, by, note, until: Date.parse('2030-01-01T00:00:00Z') } },
  });
  shelved = [
    { id: '1', key: 'kept', ...shelf('Ann (am)', 'x') },
    { id: '2', key: 'over', ...shelf('Ann (am)', 'y') },
    { id: '3', key: null, ...shelf('am', 'x') },
    { id: '4', key: 'person', ...shelf('Ann', 'y') },
    { id: '5', key: 'other', ...shelf('Ann (am2)', 'y') },
  ];
  silences = [silenceOf('s1')];
  start();
  await eventually(() => expect(answers).toHaveLength(2));
  await polledAgain();
  expect(answers.map(({ kind, alarm }) => [kind, alarm])).toEqual([
    ['unshelve', 'over'],
    ['unshelve', '3'],
  ]);
});

test('of alarms that ended before their silence, not more and more are remembered', async () => {
  const held = { at: 1, by: 'Ann (am)', note: 'x', until: Date.parse('2030-01-01T00:00:00Z') };
  const many = Array.from({ length: 50_001 }, (_, i) => ({
    id: `${i}`,
    key: `k${i}`,
    alarm: { shelved: held },
  }));
  [shelved, silences] = [many, [silenceOf('s1')]];
  start();
  await polled(2);
  shelved = many.slice(0, 1);
  await polledAgain();
  silences = [];
  await eventually(() => expect(answers).not.toHaveLength(0));
  await polledAgain();
  expect(answers.map(({ kind, alarm }) => [kind, alarm])).toEqual([['unshelve', 'k0']]);
});

test('channels of a tenant change alarms at one rate', async () => {
  const names = Array.from({ length: 1_300 }, (_, i) => `f${i}`);
  [alerts, silences] = [names.map((name) => alertOf(name)), [silenceOf('s1')]];
  const began = performance.now();
  start({ tenant: 2 });
  const first = source;
  onTestFinished(async () => first?.close());
  start({ tenant: 2 });
  await eventually(() => expect(answers.length).toBeGreaterThanOrEqual(2_000));
  await polledAgain();
  await polledAgain();
  expect(answers.length).toBeLessThanOrEqual(2_001 + (50 * (performance.now() - began)) / 1_000);
});

test('only an alert with exactly the labels that the channel sends is its own', async () => {
  const own = { alertname: 'Belfry', team: 'ops', tenant: 'acme', alarm: 'disk' };
  const others = [{ tenant: 'other' }, { team: 'dev' }, { more: 'x' }, { alertname: 'X' }];
  [alerts, silences] = [
    [
      alertOf('f0', ['s1'], { labels: own }),
      ...others.map((over, i) => alertOf(`f${i + 1}`, ['s1'], { labels: { ...own, ...over } })),
    ],
    [silenceOf('s1')],
  ];
  start({ labels: 'team=ops' });
  await eventually(() => expect(answers).toHaveLength(5));
  expect(answers.map(({ alarm, isFromThere }) => [alarm, isFromThere])).toEqual([
    ['disk', false],
    ...others.map((_, i) => [`alertmanager:f${i + 1}`, true]),
  ]);
});

test('an alert that the channel has sent again is followed again if it is a new alarm', async () => {
  const labels = { alertname: 'Belfry', tenant: 'acme', alarm: 'disk' };
  const sentAt = (updatedAt: string) => [
    ...[alertOf('f0', ['s1'], { labels, updatedAt }), alertOf('f1', ['s1'], { updatedAt })],
  ];
  [alerts, silences] = [sentAt('a'), [silenceOf('s1')]];
  start();
  await eventually(() => expect(answers).toHaveLength(2));
  alerts = sentAt('b');
  await polledAgain();
  expect(answers).toHaveLength(2);
  [alerts, since] = [sentAt('c'), 2];
  await polledAgain();
  expect(answers.map(({ alarm }) => alarm)).toEqual(['disk', 'alertmanager:f1', 'disk']);
});

test('of several silences, the one that ends last counts, also when it is edited', async () => {
  [alerts, silences] = [
    [alertOf('f1', ['s1', 's2', 's3'])],
    [
      silenceOf('s1'),
      silenceOf('s2', { endsAt: '2031-01-01T00:00:00Z', createdBy: 'Bob' }),
      silenceOf('s4', { endsAt: '2040-01-01T00:00:00Z' }),
    ],
  ];
  start();
  await eventually(() => expect(answers).toMatchObject([{ by: 'Bob (am)' }]));
  silences = [silenceOf('s1'), silenceOf('s2', { endsAt: '2031-01-01T00:00:00Z', comment: null })];
  await eventually(() => expect(answers).toHaveLength(2));
  expect(answers[1]).toMatchObject({ kind: 'shelve', by: 'Ann (am)', note: null });
});

test('a silence that covers many alerts shelves some hundred after a poll, and each alarm once', async () => {
  const names = Array.from({ length: 1_200 }, (_, i) => `f${i}`);
  [alerts, silences] = [names.map((name) => alertOf(name)), [silenceOf('s1')]];
  const afterPoll: number[] = [];
  outcome = () => {
    afterPoll[polls()] = (afterPoll[polls()] ?? 0) + 1;
    return 'done';
  };
  start();
  await eventually(() => expect(answers).toHaveLength(names.length));
  await polledAgain();
  expect(answers.map(({ alarm }) => alarm)).toEqual(names.map((name) => `alertmanager:${name}`));
  expect(afterPoll.filter(Boolean)).toEqual([500, 500, 200]);
});

test('at the address of the Alertmanager of Grafana, alarms are those that came from Grafana', async () => {
  [alerts, silences] = [[alertOf('f1')], [silenceOf('s1')]];
  receiver.answer = ({ path }) => ({
    body: JSON.stringify(path.startsWith('/api/alertmanager/grafana/api/v2/alerts?') ? alerts : silences),
  });
  start({ url: `${receiver.url}/api/alertmanager/grafana/` });
  await eventually(() => expect(answers[0]?.alarm).toBe('grafana:f1'));
});

test('an alarm that is not here yet is shelved when it comes, and a channel that changed takes no answer', async () => {
  [alerts, silences] = [[alertOf('f1'), alertOf('f2')], [silenceOf('s1')]];
  let isHere = false;
  outcome = ({ alarm }) => (alarm.endsWith('f2') ? undefined : isHere ? 'done' : 'not-found');
  start();
  await expect.poll(polls, { timeout: 10_000 }).toBeGreaterThan(2);
  isHere = true;
  await polledAgain();
  const before = answers.filter(({ alarm }) => alarm.endsWith('f1')).length;
  await polledAgain();
  expect(answers.filter(({ alarm }) => alarm.endsWith('f1'))).toHaveLength(before);
});

test.each([
  ['401', 401, 'GET /api/v2/alerts is answered with 401'],
  ['a page', '<html>', 'the answer to GET /api/v2/alerts cannot be read: it is not the JSON of Alertmanager'],
  ['too deep', '['.repeat(101), 'cannot be read: objects and lists are nested more than 100 levels deep'],
  ['too much', `["${'x'.repeat(4 * 1024 * 1024)}"]`, 'the answer to GET /api/v2/alerts has more than 4 MiB'],
])('a failure is reported, changes nothing, and ends: %s', async (_, answer, problem) => {
  const held = { at: 1, by: 'Ann (am)', note: 'y', until: Date.parse('2030-01-01T00:00:00Z') };
  shelved = [{ id: '2', key: 'over', alarm: { shelved: held } }];
  alerts = answer;
  start();
  await expect.poll(polls, { timeout: 10_000 }).toBeGreaterThan(2);
  expect([...new Set(problems)]).toEqual([expect.stringContaining(problem)]);
  expect(working).toBe(0);
  expect(problems.join()).not.toContain('hunter2');
  expect(answers).toEqual([]);
  alerts = [];
  await eventually(() => expect(answers).toHaveLength(1), { timeout: 60_000 });
  expect(working).toBeGreaterThan(0);
});

test('while nothing can be stored, it is tried again, and reported', async () => {
  let isDown = true;
  [alerts, silences] = [[alertOf('f1'), alertOf('f2')], [silenceOf('s1')]];
  outcome = ({ alarm }) => {
    if (isDown && alarm.endsWith('f2')) throw new Error('the disk is full');
    return 'done';
  };
  start();
  await eventually(() => expect(answers.length).toBeGreaterThan(3));
  isDown = false;
  await polledAgain();
  expect([...new Set(problems)]).toEqual(['the disk is full']);
  expect(answers.filter(({ alarm }) => alarm.endsWith('f1'))).toHaveLength(1);
  expect(answers.at(-1)?.alarm).toBe('alertmanager:f2');
});

test('nothing in the answers makes polling end', async () => {
  const wrongs = [null, 7, 'x', [], {}, [[]], { silencedBy: [7, null] }];
  start();
  for (const [i, wrong] of wrongs.entries()) {
    [alerts, silences] = [
      [
        wrong,
        alertOf(`w${i}`, ['s1'], { labels: wrong, startsAt: wrong }),
        alertOf('x', ['s1'], { status: wrong }),
      ],
      [wrong, silenceOf('s1', { createdBy: wrong, comment: wrong }), silenceOf('s2', { endsAt: wrong })],
    ];
    await eventually(() => expect(answers.at(-1)?.alarm).toBe(`alertmanager:w${i}`));
    expect(answers.at(-1)?.by).toBe(wrong === 'x' ? 'x (am)' : 'am');
    await polledAgain();
  }
  expect(problems).toEqual([]);
});
