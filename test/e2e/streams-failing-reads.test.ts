import { afterEach, expect, test } from 'vitest';
import type { Feeds } from '../../src/core/stream/feed.ts';
import { eventually } from '../support/eventually.ts';
import { notification } from '../support/model-log.ts';
import { Client, newFeeds, opening, panel, snapshot } from './streams-feeds.ts';

const opened: Feeds[] = [];
afterEach(() => Promise.all(opened.splice(0).map((feeds) => feeds.close())));

/** Feeds over a log whose reads take a moment, and fail while `state.broken` says why. */
function newFailingFeeds() {
  const made = newFeeds();
  const state: { broken: Error | undefined } = { broken: undefined };
  made.log.delay = async () => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    if (state.broken) throw state.broken;
  };
  opened.push(made.feeds);
  return { ...made, state };
}

test('a log that cannot be read when a stream begins fails that stream, and nothing that looks at it meanwhile', async () => {
  const { state, feeds, change, log, bus } = newFailingFeeds();
  state.broken = new Error('the disk is gone');
  const client = new Client();
  const connecting = feeds.connect(snapshot, panel, client, opening());
  change();
  const looking = feeds.online(1);
  await expect(connecting).rejects.toThrow('the disk is gone');
  await expect(looking).rejects.toThrow('the disk is gone');
  state.broken = undefined;
  bus.publish(1, [log.append(notification)]);
  const { stream } = await feeds.connect(snapshot, panel, client, opening());
  expect(client.text).toContain('event: ready');
  expect((await feeds.online(1)).panels).toEqual(
    new Map([['p', { id: 'p', cursor: stream.cursor, client: null, address: null }]]),
  );
});

test('a server that stops while a stream fails to begin stops all the same', async () => {
  const { state, feeds } = newFailingFeeds();
  state.broken = new Error('the disk is gone');
  const connecting = feeds.connect(snapshot, panel, new Client(), opening());
  const stopped = Promise.all([feeds.drain(), feeds.close()]);
  await expect(connecting).rejects.toThrow();
  await expect(stopped).resolves.toBeDefined();
});

test('a stream whose log cannot be read any more is dropped, so that its client comes back', async () => {
  const { state, feeds, log, errors } = newFailingFeeds();
  for (let i = 0; i < 3; i++) log.append(notification);
  const client = new Client();
  await feeds.connect(snapshot, panel, client, opening(1));
  await eventually(() => expect(client.text).toContain('"position":3'));
  expect(client.isDestroyed).toBe(false);
  const behind = new Client();
  const connecting = feeds.connect(snapshot, panel, behind, opening(0));
  await connecting;
  state.broken = new Error('the disk is gone');
  await eventually(() => expect(behind.isDestroyed).toBe(true));
  expect(errors).toContain(state.broken);
});
