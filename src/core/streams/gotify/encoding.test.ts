import { expect, it } from 'vitest';
import { notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { belfryAsActor, type Return } from '../../log/log.ts';
import { GotifyEncoding, gotifyStreams } from './encoding.ts';

it('all phones in quiet hours share one form of a message, and all others another one', async () => {
  const encoding = new GotifyEncoding({
    ...{ tenant: 1, epoch: 'e1', history: { find: async () => undefined } },
    ...{ snapshot: () => undefined, router: () => undefined },
  });
  const [frame] = await encoding.framesOf([notification(1, { rank: 40 })], 0, (error) => {
    throw error;
  });
  const bytesOf = (isSilent: boolean) => frame && encoding.bytesOf(frame, isSilent);
  const priorityOf = (bytes?: Buffer) => JSON.parse(String(bytes)).priority;
  expect([priorityOf(bytesOf(false)), priorityOf(bytesOf(true))]).toEqual([8, 2]);
  expect(bytesOf(false)).toBe(bytesOf(false));
  expect(bytesOf(true)).toBe(bytesOf(true));
});

it('an escalation and what is open again say why', async () => {
  const encoding = new GotifyEncoding({
    ...{ tenant: 1, epoch: 'e1', history: { find: async () => undefined } },
    ...{ snapshot: () => undefined, router: () => undefined },
  });
  const n = notification(1, {
    ...{ message: '', receivedAt: 60_000 },
    route: routeTo({ all: true }, { escalates: 'n0', escalated: { times: 1, since: 0 } }),
  });
  const back: Return = {
    ...{ kind: 'return', position: 2, id: n.id, at: 70_000, by: belfryAsActor, route: n.route },
    ...{ from: 'suppressed', shown: { ...n, count: 0 } },
  };
  const frames = await encoding.framesOf([n, back], 0, (error) => {
    throw error;
  });
  expect(frames.map(({ bytes }) => JSON.parse(bytes.toString()).message)).toEqual([
    'Nobody acknowledged this within 1 min.',
    'Open again: nothing suppresses it any more',
  ]);
});

it('in the pause after one that rang, a message of the same level does not ring; a higher level does', async () => {
  const panel = { id: 'p', tags: [], display: { ringPauseMs: 60_000 } };
  const snapshot = { panels: new Map([['p', panel]]), levels: new Map(), record: { timeZone: 'UTC' } };
  const context = {
    ...{ tenant: 1, epoch: 'e1', history: { find: async () => undefined }, now: () => 0 },
    ...{ snapshot: () => snapshot, router: () => undefined },
  } as never;
  const encoding = gotifyStreams.encoding(context);
  const encoder = gotifyStreams.encoder(context, encoding, [panel]);
  const sent = [
    { rank: 40, receivedAt: 0 },
    { rank: 40, receivedAt: 59_999 },
    { rank: 50, receivedAt: 59_999, tokenId: 'belfry:test' },
    { rank: 50, receivedAt: 59_999 },
    { rank: 40, receivedAt: 119_998 },
    { rank: 40, receivedAt: 119_999 },
  ].map((over, i) => notification(i + 1, over));
  const frames = await encoding.framesOf(sent, 0, (error) => {
    throw error;
  });
  const priorities = [...frames].map((frame) => JSON.parse(String(encoder.bytesOf(frame, 0))).priority);
  expect(priorities).toEqual([8, 2, 10, 10, 2, 8]);
});
