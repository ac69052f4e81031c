import { afterEach, expect, test } from 'vitest';
import type { TenantStreams } from '#core/streams/tenant-streams.ts';
import { eventually } from '../support/eventually.ts';
import { notification } from '../support/model-log.ts';
import { Client, newFeeds, opening, panel, snapshot } from './streams-feeds.ts';

const opened: TenantStreams[] = [];
afterEach(() => {
  for (const tenantStreams of opened.splice(0)) tenantStreams.close();
});

/** TenantStreams over a log whose reads take a moment, and fail while `state.broken` says why. */
function newFailingFeeds() {
  const made = newFeeds();
  const state: { broken: Error | undefined } = { broken: undefined };
  made.log.delay = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (state.broken) throw state.broken;
  };
  opened.push(made.tenantStreams);
  return { ...made, state };
}

test('a log that cannot be read when a stream begins fails that stream, and nothing that looks at it meanwhile', async () => {
  const { state, tenantStreams, change, log, bus } = newFailingFeeds();
  state.broken = new Error('the disk is gone');
  const client = new Client();
  const connecting = tenantStreams.connect(snapshot, [panel], client, opening());
  change();
  const looking = tenantStreams.online(1);
  await expect(connecting).rejects.toThrow('the disk is gone');
  await expect(looking).rejects.toThrow('the disk is gone');
  state.broken = undefined;
  bus.publish(1, [log.append(notification)]);
  const { stream } = await tenantStreams.connect(snapshot, [panel], client, opening());
  expect(client.text).toContain('event: ready');
  expect((await tenantStreams.online(1)).panels).toEqual(
    new Map([['p', { id: 'p', cursor: stream.cursor, lag: 0, client: null, address: null }]]),
  );
});

test('a server that stops while a stream begins stops at once, and does not begin it', async () => {
  const { tenantStreams } = newFailingFeeds();
  const client = new Client();
  const connecting = tenantStreams.connect(snapshot, [panel], client, opening());
  tenantStreams.drain();
  tenantStreams.close();
  await expect(connecting).rejects.toThrow('the server is shutting down');
  expect(client.text).toBe('');
});

test('a log that never answers for one tenant keeps no other tenant from its heartbeats', async () => {
  const { tenantStreams, log } = newFailingFeeds();
  const bounds = log.bounds.bind(log);
  log.bounds = (tenant: number) => (tenant === 1 ? bounds() : new Promise(() => undefined));
  const hanging = { ...snapshot, record: { ...snapshot.record, id: 2 } };
  void tenantStreams.connect(hanging, [panel], new Client(), opening());
  const client = new Client();
  await tenantStreams.connect(snapshot, [panel], client, opening());
  await eventually(() => expect(client.text.split('event: heartbeat').length).toBeGreaterThan(3));
  expect(await tenantStreams.online(1)).toMatchObject({ head: 0 });
});

test('a stream that cannot be written to is dropped, and the others of its tenant go on', async () => {
  const { tenantStreams, log, bus, errors } = newFailingFeeds();
  const [broken, whole] = [new Client(), new Client()];
  for (const client of [broken, whole]) await tenantStreams.connect(snapshot, [panel], client, opening());
  await eventually(() => expect(whole.text).toContain('event: heartbeat'));
  const error = new Error('a bug');
  broken.write = () => {
    throw error;
  };
  for (let position = 1; position <= 3; position++) {
    bus.publish(1, [log.append(notification)]);
    await eventually(() => expect(whole.text).toContain(`"position":${position}`));
  }
  expect(broken.isDestroyed).toBe(true);
  expect(errors).toEqual([error]);
});

test('a notification that cannot be encoded is left out, and what comes after it still reaches the panels', async () => {
  const { tenantStreams, log, bus, errors } = newFailingFeeds();
  const client = new Client();
  await tenantStreams.connect(snapshot, [panel], client, opening());
  bus.publish(1, [log.append((position) => notification(position, { receivedAt: Number.NaN }))]);
  bus.publish(1, [log.append(notification)]);
  await eventually(() => expect(client.text).toContain('"position":2'));
  expect(client.text).not.toContain('"position":1');
  expect(errors).toEqual([expect.any(RangeError)]);
});

test('a stream whose log cannot be read any more is dropped, so that its client comes back', async () => {
  const { state, tenantStreams, log, errors } = newFailingFeeds();
  for (let i = 0; i < 3; i++) log.append(notification);
  const client = new Client();
  await tenantStreams.connect(snapshot, [panel], client, opening(1));
  await eventually(() => expect(client.text).toContain('"position":3'));
  expect(client.isDestroyed).toBe(false);
  const behind = new Client();
  const connecting = tenantStreams.connect(snapshot, [panel], behind, opening(0));
  await connecting;
  state.broken = new Error('the disk is gone');
  await eventually(() => expect(behind.isDestroyed).toBe(true));
  expect(errors).toContain(state.broken);
});
