import { expect, test } from 'vitest';
import { mapOptionalTexts, noTexts } from '#contract/history/fields.ts';
import { labelsText } from '#contract/history/labels.ts';
import type { RuleThen } from '#contract/routing/rule.ts';
import { createAttentionLab, sender } from '#test/support/attention-lab.ts';
import type { DueTime } from './schedule.ts';

const minute = 60_000;

test('what is overdue goes where the missing one would have gone, and no throttle hides it', async () => {
  const then: RuleThen = { panels: { tags: ['hr'] }, throttle: { by: ['token', 'key'], perMs: 60 * minute } };
  const { send, pass, shown, replayed, mutesOverdue } = createAttentionLab(
    { token: ['hr'], sourceIp: ['192.0.2.0/24'], host: ['db'] },
    then,
  );
  const of = { host: 'db', ip: '10.0.0.1', url: 'https://example.org/', key: 'backup' };
  await send({ ...of, title: 'Backup', level: 'success', expect: { everyMs: minute, level: 'critical' } });
  await pass(2 * minute);
  expect(shown()).toMatchObject([
    {
      ...{ ...of, title: 'Overdue: Backup', level: 'critical', tokenId: 'hr', sourceIp: '192.0.2.1' },
      route: { target: { all: false, tags: ['hr'] }, origin: 'belfry:expectation' },
    },
  ]);
  expect(await replayed()).toMatchObject({ considered: 2, changed: 0 });
  // Rules find it by what sent it, too.
  expect(await replayed(mutesOverdue)).toMatchObject({
    changed: 1,
    rules: [{ id: 'e', matchedAfter: 1 }, { id: 'r' }],
  });
});

test('what is escalated or overdue has every optional text of what was sent', async () => {
  const { send, pass, escalations, shown } = createAttentionLab(
    { token: ['hr'] },
    { escalate: [{ afterMs: minute }] },
  );
  const texts = {
    ...mapOptionalTexts((name) => `the ${name}`),
    labels: labelsText({ env: 'prod' }),
    ip: '192.0.2.9',
  };
  await send(texts);
  await pass(minute);
  expect(escalations()).toMatchObject([texts]);
  await send({ ...texts, key: 'job', expect: { everyMs: minute, level: 'error' } });
  await pass(2 * minute);
  expect(shown().filter(({ title }) => title.startsWith('Overdue'))).toMatchObject([
    { ...texts, key: 'job' },
  ]);
});

test('a replay with the same rules changes nothing of escalations and their repeats', async () => {
  const escalate = [{ afterMs: minute, setLevel: 'critical', panels: { ids: ['boss'] } }];
  const { send, pass, replayed } = createAttentionLab(
    { token: ['hr'] },
    { panels: { tags: ['ops'] }, escalate },
  );
  await send();
  await pass(minute);
  await send();
  await send();
  expect(await replayed()).toMatchObject({ considered: 4, changed: 0 });
});

const once: RuleThen = { escalate: [{ afterMs: 5 * minute, setLevel: 'critical' }] };

test('after the last step repeats begin nothing anew, until the key has been off the panels', async () => {
  const { send, pass, shown, escalations, act } = createAttentionLab({ minLevel: 'error' }, once);
  for (let i = 0; i < 30; i += 1) {
    await send();
    await pass(minute);
  }
  expect(escalations()).toHaveLength(1);
  await send({ level: 'success' });
  await send();
  await pass(5 * minute);
  expect(escalations()).toHaveLength(2);
  await act(shown()[0]?.id as string, { kind: 'acknowledge' });
  for (let i = 0; i < 30; i += 1) {
    await send();
    await pass(minute);
  }
  expect(escalations()).toHaveLength(2);
});

test.each([
  ['with a key', 'k'],
  ['without one', null],
])('a notification %s says which step is next, and what it was escalated from and to', async (_, key) => {
  const [step] = once.escalate as [object];
  const { send, pass, stateOf, escalations, act } = createAttentionLab({}, {
    escalate: [step, step],
  } as RuleThen);
  const id = await send({ key });
  const rule = { id: 'r', name: expect.any(String) };
  const next = { at: 1_000_000 + 5 * minute, step: 1, steps: 2, rule, unless: 'acknowledged' };
  expect(await stateOf(id)).toEqual({ next, from: null, to: null });
  await act(id, { kind: 'acknowledge' });
  expect((await stateOf(id)).next).toBeNull();
  await act(id, { kind: 'unacknowledge' });
  await pass(5 * minute);
  const [first] = escalations().map((each) => each.id) as [string];
  expect((await stateOf(id)).to).toBe(first);
  expect(await stateOf(first)).toMatchObject({
    next: { ...next, at: next.at + 5 * minute, step: 2 },
    from: id,
  });
  await pass(5 * minute);
  const [, second] = escalations().map((each) => each.id) as [string, string];
  expect(await stateOf(second)).toEqual({ next: null, from: first, to: null });
  expect((await stateOf(first)).to).toBe(second);
});

test('no step is next without its rule; one is when a repeat was not stored', async () => {
  const { send, stateOf, disableRule, history } = createAttentionLab({}, once);
  const id = await send();
  Object.assign(history, { append: () => Promise.reject(new Error('the disk is full')) });
  await expect(send()).rejects.toThrow('the disk is full');
  expect(await stateOf(id)).toMatchObject({ next: { step: 1 } });
  disableRule();
  expect(await stateOf(id)).toMatchObject({ next: null });
});

test('the silence of a sender escalates, although somebody acknowledged what came last', async () => {
  const { send, pass, shown, escalations, act } = createAttentionLab({ minLevel: 'error' }, once);
  await send({ title: 'Backup failed', expect: { everyMs: 30 * minute, level: 'error' } });
  await act(shown()[0]?.id as string, { kind: 'acknowledge' });
  await pass(5 * minute);
  expect(escalations()).toEqual([]);
  await pass(27 * minute);
  expect(shown()).toMatchObject([{ title: 'Overdue: Backup failed', acknowledged: null }]);
  await pass(5 * minute);
  expect(escalations()).toMatchObject([{ title: 'Overdue: Backup failed' }]);
});

test('what was acknowledged escalates anew when it gets worse', async () => {
  const { send, pass, shown, escalations, act } = createAttentionLab({ minLevel: 'warning' }, once);
  await send({ level: 'warning' });
  await act(shown()[0]?.id as string, { kind: 'acknowledge' });
  await send({ level: 'warning' });
  await pass(30 * minute);
  expect(escalations()).toEqual([]);
  await send();
  await pass(5 * minute);
  expect(escalations()).toHaveLength(1);
});

test('an escalation stays on the panels and channels, in the group and with the time, of a rule that does not match it, and adds its own', async () => {
  const { send, pass, escalations } = createAttentionLab(
    { token: ['hr'], level: ['error'] },
    {
      panels: { tags: ['hr'] },
      channels: ['hr-pager'],
      group: ['host'],
      acknowledgeForMs: minute,
      escalate: [
        { afterMs: minute, setLevel: 'critical' },
        { afterMs: minute, panels: { ids: ['boss'] } },
      ],
    },
  );
  await send({ key: null });
  await pass(minute);
  await pass(minute);
  const kept = { channels: ['hr-pager'], group: ['host'], acknowledgeForMs: minute };
  expect(escalations()).toMatchObject([
    { level: 'critical', route: { target: { all: false, ids: [], tags: ['hr'] }, ...kept } },
    { level: 'critical', route: { target: { all: false, ids: ['boss'], tags: ['hr'] }, ...kept } },
  ]);
});

test('a repeat keeps the level and the panels it was escalated to', async () => {
  const escalate = [{ afterMs: minute, setLevel: 'critical', panels: { ids: ['boss'] } }];
  const { send, pass, shown } = createAttentionLab(
    { minLevel: 'error' },
    { panels: { tags: ['ops'] }, escalate },
  );
  await send();
  await pass(minute);
  const id = await send({ message: 'again' });
  expect(shown()).toMatchObject([
    { id, level: 'critical', route: { target: { all: false, ids: ['boss'], tags: ['ops'] } } },
  ]);
  expect(shown()[0]?.sentLevel).toBe('error');
});

test('an escalation keeps title and message, and says how often its alarm was escalated and since when', async () => {
  const escalate = [{ afterMs: minute, setLevel: 'critical' }, { afterMs: minute }];
  const { send, pass, shown } = createAttentionLab({ minLevel: 'error' }, { escalate });
  await send({ title: 'Disk full', message: '/var on db-1' });
  const cause = { title: 'Disk full', message: '/var on db-1', level: 'critical' };
  await pass(minute);
  expect(shown()).toMatchObject([{ ...cause, route: { escalated: { times: 1, since: 1_000_000 } } }]);
  await pass(minute);
  expect(shown()).toMatchObject([{ ...cause, route: { escalated: { times: 2, since: 1_000_000 } } }]);
  await send({ message: 'again' });
  expect(shown()).toMatchObject([{ message: 'again', route: { escalated: { times: 2, since: 1_000_000 } } }]);
});

test('a repeat that a throttle counts leaves the escalation on its panels, and the next step comes', async () => {
  const [{ afterMs }] = once.escalate as [{ afterMs: number }];
  const { send, pass, shown, escalations } = createAttentionLab(
    { minLevel: 'error' },
    { throttle: { by: ['key'], perMs: 60 * minute }, escalate: [{ afterMs }, { afterMs }] },
  );
  for (let i = 0; i < 12; i += 1) {
    await send();
    await pass(minute);
    expect(shown()).toHaveLength(1);
  }
  expect(escalations()).toHaveLength(2);
  expect(shown()[0]?.id).toBe(escalations()[1]?.id);
});

test('without room for an expectation, it is stored, counted, said once a minute, and the sender warned', async () => {
  const { pass, rows, errors, refused, full, shown, intake } = createAttentionLab(
    { minLevel: 'error' },
    once,
  );
  for (let i = 0; i < 1_000; i += 1) rows.set(`${i}`, {} as DueTime);
  const fields = { ...noTexts, title: 't', message: 'm', level: 'info', ttl: 0, key: 'e' };
  const expecting = { ...fields, expect: { everyMs: minute, level: 'error' } };
  const accept = () => intake.accept(sender, '192.0.2.1', expecting, null);
  const { id, warning } = await accept();
  expect(warning).toMatch(/is stored, but the next one is not expected: there are 1000 expectations already/);
  expect(shown()).toMatchObject([{ id }]);
  for (let i = 0; i < 10; i += 1) await accept();
  expect([refused(), full]).toEqual([11, ['there are 1000 expectations already: end some first']]);
  rows.clear();
  await pass(minute);
  for (let i = 0; i < 1_000; i += 1) rows.set(`${i}`, {} as DueTime);
  await accept();
  expect([full.length, errors]).toEqual([2, []]);
});

test('what is not stored again neither expects the next one nor has others counted on it', async () => {
  const throttle = { by: ['key' as const], perMs: 60 * minute };
  const { send, rows, shown } = createAttentionLab({ minLevel: 'error' }, { throttle, ...once });
  expect(await send({ expect: { everyMs: minute, level: 'error' } }, 'sent')).toBe('earlier');
  expect(await send({}, 'sent')).toBe('earlier');
  expect(rows.size).toBe(0);
  const id = await send();
  expect(shown()).toMatchObject([{ id }]);
});

test('a rule that was disabled escalates no more', async () => {
  const { send, pass, escalations, disableRule, history } = createAttentionLab({ minLevel: 'error' }, once);
  const id = await send();
  disableRule();
  await pass(5 * minute);
  expect(escalations()).toEqual([]);
  expect((await history.find(1, id))?.alarm?.escalation).toBeUndefined();
});

test('an alarm that is open again goes on: a step that was due is sent at once, a later one in its time', async () => {
  const { send, pass, escalations, act } = createAttentionLab({}, { escalate: [{ afterMs: 5 * minute }] });
  const [first, second] = [await send({ key: 'a' }), await send({ key: 'b' })];
  for (const id of [first, second]) await act(id, { kind: 'acknowledge' });
  await pass(minute);
  await act(first, { kind: 'unacknowledge' });
  await pass(3 * minute);
  expect(escalations()).toEqual([]);
  await pass(minute);
  expect(escalations()).toMatchObject([{ key: 'a' }]);
  await pass(minute);
  await act(second, { kind: 'unacknowledge' });
  await pass(0);
  expect(escalations()).toMatchObject([{ key: 'a' }, { key: 'b' }]);
});

test('a step for what no panel has shown is not sent once one has shown the alarm, nor for its repeats', async () => {
  const { send, pass, escalations, history } = createAttentionLab(
    {},
    { escalate: [{ afterMs: 5 * minute, unless: 'shown' }, { afterMs: minute }] },
  );
  const [first, second] = [await send({ key: 'a' }), await send({ key: 'b' })];
  await send({ key: 'c' });
  const receipts = [first, second].map((id) => ({ id, state: 'shown', at: 1 }) as const);
  await history.record(1, { id: 'p', tags: [] }, receipts);
  await send({ key: 'b' });
  await pass(5 * minute);
  await pass(minute);
  expect(escalations().map(({ key }) => key)).toEqual(['c', 'c']);
});

test('a step that cannot be sent is tried again, and those of others are sent', async () => {
  const { send, pass, escalations, intake } = createAttentionLab({}, once);
  await send({ key: 'a' });
  await send({ key: 'b' });
  const { raise } = intake;
  intake.raise = (tenant, given) =>
    given.fields.key === 'a' ? Promise.reject(new Error('a bug')) : raise.call(intake, tenant, given);
  await expect(pass(5 * minute)).rejects.toThrow('a bug');
  await pass(1_000);
  expect(escalations()).toMatchObject([{ key: 'b' }]);
  intake.raise = raise;
  await pass(minute);
  expect(escalations()).toMatchObject([{ key: 'b' }, { key: 'a' }]);
});
