import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import { type AnswersContext, type ChannelAnswer, takeAnswer } from '#core/channels/answers.ts';
import type { ChannelRecord } from '#core/channels/channels.ts';
import { personIn } from '#core/channels/person-names.ts';
import type { AlarmAction, NotificationDraft } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { draft, everyone, type HistoryLab, now, store } from './history-lab.ts';

export function answersConformance(lab: () => HistoryLab): void {
  const newChannel = async (tenant: TenantId, id = 'c'): Promise<ChannelRecord> => {
    const { channels } = lab().database.directory;
    await channels.create(
      {
        ...{ tenant, id, name: id, kind: 'webhook', enabled: true, settings: { updates: 'all' } },
        ...{ secrets: [], sealed: null, createdAt: 1, updatedAt: 1 },
      },
      'ann',
    );
    return (await channels.find(tenant, id)) as ChannelRecord;
  };
  const to = (...channels: string[]): Partial<NotificationDraft> => ({
    ...{ rank: 40, level: 'error', expiresAt: null },
    route: routeTo(everyone, { channels }),
  });
  const fullTake = (channel: ChannelRecord, over: Partial<ChannelAnswer> = {}, at = now + 1_000) => {
    const { history, deliveries, directory } = lab().database;
    const context: AnswersContext = {
      ...{ history, deliveries, directory, now: () => at },
      ...{ bus: { publish: () => undefined }, channels: { wake: () => undefined } },
    };
    const answer = {
      kind: 'acknowledge',
      alarm: 'disk',
      by: 'Ann (PagerDuty)',
      note: null,
      ...over,
    } as const;
    return takeAnswer(context, channel, answer);
  };
  const take = async (...given: Parameters<typeof fullTake>) => {
    const outcome = await fullTake(...given);
    return typeof outcome === 'object' ? outcome.kind : outcome;
  };
  const kindsOf = async (tenant: TenantId, id: string) =>
    (await lab().database.history.entriesOf(tenant, [id], 99)).map(({ kind }) => kind);
  const eventsOf = async ({ tenant, id }: ChannelRecord) =>
    (await lab().database.deliveries.list(tenant, id, 99)).map(({ event }) => event).toReversed();

  test('an answer holds by the key and by the id, names the person, and goes to the other channels alone', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const [c, other] = [await newChannel(tenant), await newChannel(tenant, 'other')];
    const { id } = await store(history, tenant, { ...to('c', 'other'), key: 'disk' });
    expect(await take(c, { note: 'on my way' })).toBe('done');
    const at = now + 1_000;
    expect(await history.find(tenant, id)).toMatchObject({
      acknowledged: { by: 'Ann (PagerDuty)', note: 'on my way', at },
    });
    expect(await take(c)).toBe('already');
    expect(await take(c, { kind: 'unacknowledge', alarm: id })).toBe('done');
    expect(await take(c, { kind: 'unacknowledge', alarm: id })).toBe('nothing');
    expect(await take(c, { kind: 'shelve' })).toBe('done');
    expect((await history.find(tenant, id))?.alarm?.shelved).toEqual({
      ...{ by: 'Ann (PagerDuty)', note: null, at, until: at + 3_600_000 },
    });
    expect(await take(c, { kind: 'clear' })).toBe('done');
    expect(await take(c, { kind: 'clear', alarm: id })).toBe('nothing');
    expect(await eventsOf(c)).toEqual([null]);
    expect(await eventsOf(other)).toEqual([null, 'acknowledged', 'unacknowledged', 'shelved', 'ended']);
    const { entries } = await lab().database.directory.auditLog.page({ tenant, limit: 1 });
    expect(entries).toMatchObject([
      { action: 'alarm.shelve', by: 'Ann (PagerDuty)', subject: id, detail: { alarms: 1 } },
    ]);
  });

  test('an alarm is found only if its channel was sent it, in its tenant, and while the channel is enabled', async () => {
    const { history, directory } = lab().database;
    const [tenant, others] = [await lab().newTenant(), await lab().newTenant()];
    const [c, other, foreign] = [
      await newChannel(tenant),
      await newChannel(tenant, 'other'),
      await newChannel(others),
    ];
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    for (const alarm of [id, 'disk', 'none', '', '\0', 'a'.repeat(9_999)]) {
      expect(await take(other, { alarm })).toBe('not-found');
      expect(await take(foreign, { alarm })).toBe('not-found');
    }
    expect(await take({ ...c, enabled: false })).toBe('not-found');
    await directory.tenants.setState(tenant, 'suspended', 'ann', now);
    expect(await take(c)).toBe('not-found');
    await directory.tenants.setState(tenant, 'active', 'ann', now);
    expect(await take(c)).toBe('done');
  });

  test('a channel that had an earlier notification of the alarm acts on it, and not on a later alarm of the key', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const first = await store(history, tenant, { ...to('c'), key: 'disk' });
    const second = await store(history, tenant, { ...to(), key: 'disk', receivedAt: now + 1 });
    expect(await take(c)).toBe('done');
    expect(await take(c, { kind: 'unacknowledge', alarm: first.id })).toBe('done');
    expect((await kindsOf(tenant, second.id)).slice(-2)).toEqual(['acknowledgement', 'return']);
    await history.clear(tenant, second.id, 'ada', now + 2);
    await store(history, tenant, { ...to(), key: 'disk', receivedAt: now + 3 });
    expect(await take(c)).toBe('not-found');
    expect(await take(c, { alarm: first.id })).toBe('nothing');
  });

  test('an alarm without a key is named by the first of its notifications, also if only a later one was sent', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const later = await newChannel(tenant, 'later');
    const escalation = { rule: { id: 'r', name: 'r' }, steps: [{ afterMs: 10 }] };
    const first = draft({ ...to(), receivedAt: now });
    await history.append(tenant, first, null, { escalation });
    expect(await take(later, { alarm: first.id })).toBe('not-found');
    const route = { ...routeTo(everyone, { channels: ['later'] }), escalates: first.id };
    const step = draft({ ...to(), receivedAt: now + 10, route });
    await history.append(tenant, step, null, { step: 0, replaces: first.id });
    expect(await take(later, { alarm: first.id })).toBe('done');
    expect((await history.find(tenant, step.id))?.acknowledged).toMatchObject({ by: 'Ann (PagerDuty)' });
  });

  test('an answer that changes nothing says why, and who was first', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    const why = async (over: Partial<ChannelAnswer>) => {
      const outcome = await fullTake(c, { by: 'Bob (PagerDuty)', ...over });
      return typeof outcome === 'object' ? outcome.why : outcome;
    };
    expect(await why({ kind: 'unacknowledge' })).toBe('it is not acknowledged');
    expect(await why({ kind: 'unshelve' })).toBe('it is not shelved');
    expect(await take(c)).toBe('done');
    expect(await why({})).toBe('Ann (PagerDuty) has acknowledged it already');
    await fullTake(c, { kind: 'shelve', until: now + 60_000 });
    expect(await why({})).toMatch(
      /^it is shelved by Ann \(PagerDuty\) until 20\d\d-\d\d-\d\d \d\d:\d\d \S+$/,
    );
    await history.clear(tenant, id, 'ada', now + 2_000);
    expect(await why({ alarm: id })).toBe('it has ended');
  });

  test('an answer that comes once more, or after something else has happened, changes nothing', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    expect(await take(c, { at: now - 60_001 })).toBe('nothing');
    expect(await take(c, { at: now + 100 })).toBe('done');
    expect(await take(c, { kind: 'unacknowledge', at: now + 200 })).toBe('done');
    // The same once more, as by somebody who has recorded it.
    expect(await take(c, { at: now + 100 })).toBe('nothing');
    expect(await take(c, { at: now + 200 })).toBe('nothing');
    // A clock that is ahead.
    expect(await take(c, { at: now + 9_999_999 })).toBe('done');
    expect((await history.find(tenant, id))?.acknowledged?.at).toBe(now + 1_000);
    expect(await take(c, { kind: 'shelve', until: now })).toBe('nothing');
    await history.clear(tenant, id, 'ada', now + 2_000);
    const again = await store(history, tenant, { ...to('c'), key: 'disk', receivedAt: now + 3_000 });
    const clear = { kind: 'clear', at: now + 2_500, stoodMs: 2_500 } as const;
    expect(await take(c, clear, now + 4_000)).toBe('nothing');
    expect((await history.find(tenant, again.id))?.cleared).toBeNull();
  });

  test('an answer holds although the clock of its system differs by a minute, and a repeat still changes nothing', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    const minute = 60_000;
    // Two seconds after the alarm began; there, it is a minute earlier.
    const first = { at: now + 2_000 - minute, stoodMs: 1_500 };
    expect(await take(c, first, now + 2_000)).toBe('done');
    const ofAda = { kind: 'unacknowledge', at: now + 3_000, by: 'ada' } as const;
    await history.act(tenant, [id], ofAda);
    expect(await take(c, first, now + 4_000)).toBe('nothing');
    // Somebody else does it again there; then the first answer comes once more, and one that is too late.
    const second = { by: 'Bob (PagerDuty)', at: now + 5_000 - minute, stoodMs: 4_500 };
    expect(await take(c, second, now + 5_000)).toBe('done');
    await history.act(tenant, [id], { ...ofAda, at: now + 6_000 });
    for (const again of [first, second, { ...second, by: 'Cy (Slack)', at: now + 6_000 - minute }])
      expect(await take(c, again, now + 7_000)).toBe('nothing');
    expect((await history.find(tenant, id))?.acknowledged).toBeNull();
  });

  test('an answer to a notification is about its alarm, whatever the clock of its system says', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    expect(await take(c, { alarm: id, at: now - 200_000 })).toBe('done');
  });

  test('a silence shelves an alarm once, and its end takes back only what it shelved', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    const silence = { isSilence: true, by: 'Ann (c)', note: 'new disk', until: now + 60_000 } as const;
    const shelve = (over: Partial<ChannelAnswer> = {}, after = 1_000) =>
      take(c, { kind: 'shelve', ...silence, ...over }, now + after);
    const unshelve = () => take(c, { kind: 'unshelve', isSilence: true, by: 'c' });
    const act = (action: AlarmAction, of = id) => history.act(tenant, [of], action);
    const person = { at: now + 2_000, by: 'Bob' };
    expect([await unshelve(), await shelve(), await shelve()]).toEqual(['nothing', 'done', 'nothing']);
    expect(await shelve({ until: now + 90_000 })).toBe('done');
    expect([await unshelve(), await unshelve()]).toEqual(['done', 'nothing']);
    // Nobody but the channel itself has taken it back.
    expect(await shelve({ until: now + 90_000 })).toBe('done');
    await act({ kind: 'unshelve', ...person });
    expect(await shelve({ until: now + 90_000 })).toBe('nothing');
    expect(await shelve({ note: 'other' })).toBe('done');
    await act({ kind: 'unshelve', ...person });
    // Also after a repeat, whose entries are its own.
    const { id: repeat } = await store(history, tenant, {
      ...{ ...to('c'), key: 'disk', receivedAt: now + 3_000, rank: 50 },
    });
    expect(await shelve({ note: 'other' }, 4_000)).toBe('nothing');
    await act({ kind: 'shelve', ...person, note: null, until: now + 50_000 }, repeat);
    expect([await shelve({}, 5_000), await unshelve()]).toEqual(['nothing', 'nothing']);
    expect((await history.find(tenant, repeat))?.alarm?.shelved).toMatchObject({ by: 'Bob' });
    const { entries } = await lab().database.directory.auditLog.page({
      tenant,
      limit: 1,
      action: 'alarm.unshelve',
    });
    expect(entries).toMatchObject([{ by: 'c', subject: id, detail: { alarms: 1 } }]);
    // Another alarm of the key.
    await act({ kind: 'clear', ...person, note: null }, repeat);
    await store(history, tenant, { ...to('c'), key: 'disk', receivedAt: now + 6_000 });
    expect(await shelve({ note: 'other' }, 7_000)).toBe('done');
  });

  test('a silence that is longer than a shelf may be is followed once, and holds for alarms that came from its system', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to(), key: 'alertmanager:1' });
    const silence: Partial<ChannelAnswer> = {
      ...{ kind: 'shelve', alarm: 'alertmanager:1', isSilence: true, by: 'c', until: 8.64e15 },
    };
    expect(await take(c, silence)).toBe('not-found');
    const own = { ...silence, isFromThere: true };
    const outcomes = [await take(c, own), await take(c, own, now + 2_000), await take(c, own, now + 3_000)];
    expect(outcomes).toEqual(['done', 'nothing', 'nothing']);
    expect((await history.find(tenant, id))?.alarm?.shelved?.until).toBe(now + 1_000 + limits.shelfMs);
    expect(await kindsOf(tenant, id)).toEqual(['shelving']);
  });

  test.each([
    ['with a key', 'disk'],
    ['without one', null],
  ])(
    'what a person took back from a silence stays back after a step of an escalation, %s',
    async (_, key) => {
      const { history } = lab().database;
      const tenant = await lab().newTenant();
      const c = await newChannel(tenant);
      const escalation = { rule: { id: 'r', name: 'r' }, steps: [{ afterMs: 10 }] };
      const first = draft({ ...to('c'), key, receivedAt: now });
      await history.append(tenant, first, null, { escalation });
      const shelve = (alarm: string) =>
        take(c, { kind: 'shelve', alarm, isSilence: true, by: 'Ann (c)', until: now + 60_000 });
      expect(await shelve(first.id)).toBe('done');
      await history.act(tenant, [first.id], { kind: 'unshelve', at: now + 2_000, by: 'Bob' });
      const escalated = { times: 1, since: now, rules: [] };
      const route = routeTo(everyone, { channels: ['c'], escalates: first.id, escalated });
      const step = draft({ ...to(), key, receivedAt: now + 3_000, route });
      await history.append(tenant, step, null, { step: 0, replaces: first.id });
      expect((await history.find(tenant, step.id))?.alarm?.since).toBe(now);
      expect(await shelve(first.id)).toBe('nothing');
      expect(await shelve(step.id)).toBe('nothing');
    },
  );

  test('an answer about an alarm that a resolve has ended does nothing', async () => {
    const { history } = lab().database;
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(history, tenant, { ...to('c'), key: 'disk' });
    const ended = { ...to('c'), key: 'disk', rank: 10, level: 'success', receivedAt: now + 10 };
    const { id: resolve } = await store(history, tenant, ended);
    for (const alarm of [id, 'disk', resolve])
      for (const kind of ['acknowledge', 'shelve'] as const)
        expect(await take(c, { kind, alarm })).toBe('nothing');
    expect(await history.find(tenant, resolve)).toMatchObject({ acknowledged: null, cleared: null });
    // It may be taken off the panels.
    expect(await take(c, { kind: 'clear' })).toBe('done');
  });

  test('what has expired has ended', async () => {
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(lab().database.history, tenant, { ...to('c'), expiresAt: now + 10, ttl: 10 });
    expect(await take(c, { alarm: id, at: now + 5 }, now + 20)).toBe('nothing');
  });

  test('a name is one line of bounded length, and nothing in it hides the system', async () => {
    const tenant = await lab().newTenant();
    const c = await newChannel(tenant);
    const { id } = await store(lab().database.history, tenant, { ...to('c'), key: 'disk' });
    const names: readonly (readonly [unknown, string])[] = [
      ['Ann Example', 'Ann Example (Slack)'],
      ['  Ann\r\n\t\0Example\u202e ', 'Ann Example (Slack)'],
      ['\ud800', '� (Slack)'],
      [' \u200b', 'Slack'],
      [undefined, 'Slack'],
      [{ toString: () => 'x' }, 'Slack'],
      ['😀'.repeat(9_999), `${'😀'.repeat(79)}… (Slack)`],
    ];
    for (const [name, shown] of names) expect(personIn('Slack', name)).toBe(shown);
    expect(await take(c, { by: `x\0\n${'y'.repeat(9_999)}`, note: '\0\ud800\n' })).toBe('done');
    expect((await lab().database.history.find(tenant, id))?.acknowledged).toMatchObject({
      by: `x ${'y'.repeat(180)}…`,
      note: '�',
    });
  });
}
