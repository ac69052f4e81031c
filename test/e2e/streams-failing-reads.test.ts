import { afterEach, expect, test, vi } from 'vitest';
import { createInProcessBus } from '../../src/bus/in-process.ts';
import type { PanelRecord } from '../../src/core/directory.ts';
import { Feeds } from '../../src/core/feed.ts';
import type { Sink } from '../../src/core/panel-stream.ts';
import type { Tenancy, TenantSnapshot } from '../../src/core/tenancy.ts';
import { ModelLog, notification } from '../support/model-log.ts';

const panel: PanelRecord = {
  id: 'p',
  name: 'P',
  tags: [],
  location: null,
  display: {},
  createdAt: 0,
  lastSeenAt: null,
  cursor: null,
};
const snapshot = {
  record: { id: 1, name: 't', title: 'T', timeZone: 'UTC' },
  levels: new Map(),
  panels: new Map([[panel.id, panel]]),
} as unknown as TenantSnapshot;

class Client implements Sink {
  text = '';
  isDestroyed = false;
  write(chunk: Buffer | string, onFlushed: () => void): void {
    this.text += chunk.toString();
    setImmediate(onFlushed);
  }
  end(): void {}
  destroy(): void {
    this.isDestroyed = true;
  }
}

const opened: Feeds[] = [];
afterEach(() => Promise.all(opened.splice(0).map((feeds) => feeds.close())));

/** Feeds over a log whose reads fail while `broken` says why; it ticks every 10 ms. */
function newFeeds() {
  const log = new ModelLog();
  const state: { broken: Error | undefined } = { broken: undefined };
  const bus = createInProcessBus();
  const errors: unknown[] = [];
  let change = () => {};
  const onChange: Tenancy['onChange'] = (heard) => {
    change = () => heard(1);
    return () => undefined;
  };
  log.delay = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (state.broken) throw state.broken;
  };
  const feeds = new Feeds({
    history: log,
    bus,
    tenancy: {
      onChange,
      peek: () => snapshot,
    } as unknown as Tenancy,
    epoch: 'e1',
    now: Date.now,
    heartbeatMs: 20,
    onError: (error) => errors.push(error),
    onSent: () => undefined,
    onSeen: () => undefined,
  });
  opened.push(feeds);
  return { log, state, bus, feeds, errors, change: () => change() };
}

test('a log that cannot be read when a stream begins fails that stream, and nothing that looks at it meanwhile', async () => {
  const { state, feeds, change, log, bus } = newFeeds();
  state.broken = new Error('the disk is gone');
  const client = new Client();
  const connecting = feeds.connect(snapshot, panel, client, undefined);
  change();
  const looking = feeds.online(1);
  await expect(connecting).rejects.toThrow('the disk is gone');
  await expect(looking).rejects.toThrow('the disk is gone');
  state.broken = undefined;
  bus.publish(1, [log.append(notification)]);
  const { stream } = await feeds.connect(snapshot, panel, client, undefined);
  expect(client.text).toContain('event: ready');
  expect((await feeds.online(1)).cursors).toEqual(new Map([['p', stream.cursor]]));
});

test('a server that stops while a stream fails to begin stops all the same', async () => {
  const { state, feeds } = newFeeds();
  state.broken = new Error('the disk is gone');
  const connecting = feeds.connect(snapshot, panel, new Client(), undefined);
  const stopped = Promise.all([feeds.drain(), feeds.close()]);
  await expect(connecting).rejects.toThrow();
  await expect(stopped).resolves.toBeDefined();
});

test('a stream whose log cannot be read any more is dropped, so that its client comes back', async () => {
  const { state, feeds, log, errors } = newFeeds();
  for (let i = 0; i < 3; i++) log.append(notification);
  const client = new Client();
  await feeds.connect(snapshot, panel, client, { epoch: 'e1', position: 1 });
  await vi.waitFor(() => expect(client.text).toContain('"position":3'));
  expect(client.isDestroyed).toBe(false);
  const behind = new Client();
  const connecting = feeds.connect(snapshot, panel, behind, { epoch: 'e1', position: 0 });
  await connecting;
  state.broken = new Error('the disk is gone');
  await vi.waitFor(() => expect(behind.isDestroyed).toBe(true));
  expect(errors).toContain(state.broken);
});
