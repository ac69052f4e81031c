import { expect, test } from 'vitest';
import type { ChannelKind } from '#contract/channels/channel-fields.ts';
import type { Delivery } from '#core/channels/channels.ts';
import type { AlarmAction, NotificationDraft } from '#core/log/log.ts';
import { enforceLiveLimit } from '#core/log/retention.ts';
import type { TenantId } from '#core/log/route.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { draft, everyone, type HistoryLab, lobby, now, store } from './history-lab.ts';

type Doing = AlarmAction extends infer A ? (A extends AlarmAction ? Omit<A, 'at' | 'by'> : never) : never;

export function updatesConformance(lab: () => HistoryLab): void {
  const all = { updates: 'all' };
  const channel = async (
    tenant: TenantId,
    id: string,
    { kind = 'webhook' as ChannelKind, settings = all as Record<string, string> } = {},
  ) =>
    lab().database.directory.channels.create(
      {
        ...{ tenant, id, name: id, kind, enabled: true, settings, secrets: [], sealed: null },
        ...{ createdAt: 1, updatedAt: 1 },
      },
      'ann',
    );
  const to = (...channels: string[]): Partial<NotificationDraft> => ({
    ...{ rank: 40, level: 'error', expiresAt: null },
    route: routeTo(everyone, { channels }),
  });
  const act = async (tenant: TenantId, id: string, action: Doing, at = now) =>
    lab().database.history.act(tenant, [id], { at, by: 'ada', ...action } as AlarmAction);
  const deliveriesOf = async (tenant: TenantId, id = 'c') =>
    (await lab().database.deliveries.list(tenant, id, 99)).toReversed();
  const events = async (tenant: TenantId, id = 'c') =>
    (await deliveriesOf(tenant, id)).map(({ event }) => event);
  const acknowledge = { kind: 'acknowledge', note: null } as const;
  const shelve = { kind: 'shelve', note: null, until: now + 60_000 } as const;

  test('each event is queued with its entry, in the order of the log, about the notification that the channel had', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    await channel(tenant, 'c');
    const { id } = await store(history, tenant, to('c'));
    await act(tenant, id, acknowledge);
    await act(tenant, id, { kind: 'unacknowledge' });
    await act(tenant, id, shelve);
    await act(tenant, id, { kind: 'unshelve' });
    await act(tenant, id, { kind: 'assign', owner: { id: 'p', name: 'P' } });
    await act(tenant, id, { kind: 'clear' });
    // What has ended is nobody's concern any more.
    await act(tenant, id, acknowledge);
    const queued = await deliveriesOf(tenant);
    expect(queued.map(({ event, notification, state }) => [event, notification, state])).toEqual(
      [null, 'acknowledged', 'unacknowledged', 'shelved', 'unshelved', 'ended'].map((event) => [
        ...[event, id, 'pending'],
      ]),
    );
    const { entries } = await history.readAfter(tenant, 0, 99);
    const kinds = queued.map(({ position }) => entries.find((each) => each.position === position)?.kind);
    expect(kinds).toEqual(['notification', 'acknowledgement', 'return', 'shelving', 'return', 'clear']);
    expect(await database.deliveries.listByNotification(tenant, id)).toEqual(queued);
  });

  test('what is over by itself, and what Belfry takes off, is queued, too', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    await channel(tenant, 'c');
    const { id } = await store(history, tenant, to('c'));
    await act(tenant, id, { ...acknowledge, until: now + 10 });
    await act(tenant, id, { kind: 'unacknowledge', isDue: true }, now + 9);
    await act(tenant, id, { kind: 'unacknowledge', isDue: true }, now + 10);
    await history.clear(tenant, id, 'belfry', now + 11);
    await history.clear(tenant, id, 'belfry', now + 12);
    expect(await events(tenant)).toEqual([null, 'acknowledged', 'unacknowledged', 'ended']);
  });

  test('what leaves the panels because there are too many is not over, and is not queued', async () => {
    const { directory, history } = lab().database;
    const tenant = await lab().newTenant();
    await channel(tenant, 'c');
    for (let i = 0; i < 3; i++) await store(history, tenant, to('c'));
    const record = await directory.tenants.get(tenant);
    await enforceLiveLimit(
      {
        ...{ history, bus: { publish: () => undefined }, warn: () => undefined, now: () => now, most: 1 },
        directory: { tenants: { list: async () => [record] } },
      },
      () => false,
    );
    expect((await history.live(tenant, lobby, now, 9)).positions).toHaveLength(1);
    expect(await events(tenant)).toEqual([null, null, null]);
  });

  test('a channel gets what its kind and its setting say', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const channels: Record<string, readonly [ChannelKind, Record<string, string>, readonly string[]]> = {
      hook: ['webhook', {}, []],
      hookEnds: ['webhook', { updates: 'ends' }, ['ended']],
      hookAll: ['webhook', all, ['acknowledged', 'unacknowledged', 'shelved', 'unshelved', 'ended']],
      slack: ['slack', {}, []],
      telegram: [
        'telegram',
        { updates: 'all' },
        ['acknowledged', 'unacknowledged', 'shelved', 'unshelved', 'ended'],
      ],
      telegramNone: ['telegram', {}, []],
      pager: ['pagerduty', {}, ['acknowledged', 'shelved', 'ended']],
      pagerEnds: ['pagerduty', { updates: 'ends' }, ['ended']],
      mqtt: ['mqtt', { topic: 't' }, []],
      lamp: [
        ...(['mqtt', { topic: 't', stateTopic: 's/{alarm}' }] as const),
        ['acknowledged', 'unacknowledged', 'shelved', 'unshelved', 'ended'],
      ],
      push: ['push', {}, ['acknowledged', 'unacknowledged', 'shelved', 'unshelved', 'ended']],
    };
    for (const [id, [kind, settings]] of Object.entries(channels))
      await channel(tenant, id, { kind, settings });
    const { id } = await store(database.history, tenant, to(...Object.keys(channels)));
    const doing = [
      acknowledge,
      { kind: 'unacknowledge' },
      shelve,
      { kind: 'unshelve' },
      { kind: 'clear' },
    ] as const;
    for (const action of doing) await act(tenant, id, action);
    for (const [name, [, , wanted]] of Object.entries(channels))
      expect([name, ...(await events(tenant, name))]).toEqual([name, null, ...wanted]);
  });

  test('what came from a channel does not go back to it', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    for (const id of ['c', 'other']) await channel(tenant, id);
    const { id } = await store(database.history, tenant, to('c', 'other'));
    for (const action of [acknowledge, { kind: 'unacknowledge' }, shelve, { kind: 'clear' }] as const)
      await act(tenant, id, { ...action, channel: 'c' });
    expect(await events(tenant)).toEqual([null]);
    expect(await events(tenant, 'other')).toEqual([
      null,
      'acknowledged',
      'unacknowledged',
      'shelved',
      'ended',
    ]);
  });

  test('a disabled channel, one that failed to deliver, and one that had nothing of the alarm get nothing', async () => {
    const { database, newTenant } = lab();
    const { directory, deliveries, history } = database;
    const tenant = await newTenant();
    for (const id of ['c', 'off', 'failed', 'none']) await channel(tenant, id);
    const { id } = await store(history, tenant, to('c', 'off', 'failed'));
    await directory.channels.update(tenant, 'off', () => ({ enabled: false }), 'x', 1);
    const failed = (await deliveries.next(tenant, 'failed')) as Delivery;
    await deliveries.finish(tenant, failed, { state: 'failed', answer: 'no' }, now);
    await act(tenant, id, acknowledge);
    expect(await events(tenant)).toEqual([null, 'acknowledged']);
    for (const other of ['off', 'failed']) expect(await events(tenant, other)).toEqual([null]);
    expect(await events(tenant, 'none')).toEqual([]);
  });

  test('of a key it is about the newest notification that the channel had of the alarm, and about no earlier alarm', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    for (const id of ['c', 'early', 'ended']) await channel(tenant, id);
    const key = 'disk';
    const before = await store(history, tenant, { ...to('ended'), key });
    await history.clear(tenant, before.id, 'ada', now);
    const first = await store(history, tenant, { ...to('c', 'early'), key, receivedAt: now + 1 });
    const second = await store(history, tenant, { ...to('c'), key, receivedAt: now + 2 });
    const third = await store(history, tenant, { ...to(), key, receivedAt: now + 3 });
    await act(tenant, third.id, acknowledge, now + 4);
    expect((await deliveriesOf(tenant)).at(-1)).toMatchObject({
      event: 'acknowledged',
      notification: second.id,
    });
    expect((await deliveriesOf(tenant, 'early')).at(-1)).toMatchObject({
      ...{ event: 'acknowledged', notification: first.id },
    });
    expect(await events(tenant, 'ended')).toEqual([null, 'ended']);
  });

  test('what people do about the end of an alarm is not queued: its channels had the end', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    await channel(tenant, 'c');
    await store(history, tenant, { ...to('c'), key: 'disk' });
    const end = await store(history, tenant, { ...to('c'), key: 'disk', level: 'success', rank: 10 });
    await act(tenant, end.id, acknowledge);
    await act(tenant, end.id, { kind: 'clear' });
    const again = await store(history, tenant, { ...to('c'), key: 'disk', level: 'success', rank: 10 });
    await history.clear(tenant, again.id, 'ada', now);
    expect(await events(tenant)).toEqual([null, null, null]);
  });

  test('of an alarm without a key, channels of the notifications that were escalated are told', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    for (const id of ['c', 'later']) await channel(tenant, id);
    const escalation = { rule: { id: 'r', name: 'r' }, steps: [{ afterMs: 10 }] };
    const first = draft({ ...to('c'), receivedAt: now });
    await history.append(tenant, first, null, { escalation });
    const route = { ...routeTo(everyone, { channels: ['later'] }), escalates: first.id };
    const step = draft({ ...to(), receivedAt: now + 10, route });
    await history.append(tenant, step, null, { step: 0, replaces: first.id });
    const { id } = step;
    await act(tenant, id, acknowledge, now + 20);
    expect(await events(tenant)).toEqual([null, 'acknowledged']);
    expect(await events(tenant, 'later')).toEqual([null, 'acknowledged']);
  });

  test('a result keeps what the receiver calls the message', async () => {
    const { database, newTenant } = lab();
    const { deliveries, history } = database;
    const tenant = await newTenant();
    await channel(tenant, 'c');
    await store(history, tenant, to('c'));
    const delivered = { state: 'delivered', answer: 'ok', reference: '4711' } as const;
    await deliveries.finish(tenant, (await deliveries.next(tenant, 'c')) as Delivery, delivered, now);
    expect(await deliveriesOf(tenant)).toMatchObject([
      { state: 'delivered', reference: '4711', event: null },
    ]);
  });
}
