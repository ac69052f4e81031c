import { afterEach, expect, test } from 'vitest';
import type { TenantStreams } from '#core/streams/tenant-streams.ts';
import { eventually } from '../support/eventually.ts';
import { everywhere, notification } from '../support/model-log.ts';
import { Client, newFeeds, opening, panel, snapshot } from './streams-feeds.ts';

const opened: TenantStreams[] = [];
afterEach(() => {
  for (const tenantStreams of opened.splice(0)) tenantStreams.close();
});

test('a panel that read too slowly for retention gets a gap in mid-stream, then the live set', async () => {
  const { log, bus, tenantStreams } = newFeeds();
  opened.push(tenantStreams);
  const client = new Client();
  await tenantStreams.connect(snapshot, [panel], client, opening());
  await eventually(() => expect(client.events()).toEqual(['ready live']));
  client.pausesAt = '"position":1,';
  bus.publish(1, [log.append(notification)]);
  await eventually(() => expect(client.events().at(-1)).toBe('notification 1'));
  // More than the ring keeps; all of it but the end is dropped before this panel could read it.
  for (let i = 0; i < 4_500; i++) log.append(notification);
  log.append((position) => ({
    kind: 'clear',
    position,
    id: notification(4_501).id,
    reason: 'cleared',
    by: 'x',
    at: 1,
    route: everywhere,
  }));
  log.pruneTo(4_500);
  bus.publish(1, []);
  await eventually(async () => expect((await tenantStreams.online(1)).head).toBe(4_502));
  client.resume();
  await eventually(() => expect(client.events().at(-1)).toBe('notification 4500'));
  expect(client.events()).toEqual(['ready live', 'notification 1', 'gap 4502', 'notification 4500']);
});

test('panels that have read everything notice nothing of what is pruned', async () => {
  const { log, bus, tenantStreams } = newFeeds();
  opened.push(tenantStreams);
  const client = new Client();
  await tenantStreams.connect(snapshot, [panel], client, opening());
  for (let i = 0; i < 50; i++) bus.publish(1, [log.append(notification)]);
  await eventually(() => expect(client.events().at(-1)).toBe('notification 50'));
  log.pruneTo(40);
  bus.publish(1, [log.append(notification)]);
  await eventually(() => expect(client.events().at(-1)).toBe('notification 51'));
  expect(client.events()).toEqual([
    'ready live',
    ...Array.from({ length: 51 }, (_, i) => `notification ${i + 1}`),
  ]);
});
