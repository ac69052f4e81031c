import { expect, it } from 'vitest';
import { notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { belfryAsActor, type Return } from '../../log/log.ts';
import { type QuietHours, quietHoursOf } from '../../routing/quiet-hours.ts';
import { GotifyEncoding } from './encoding.ts';

it('all phones in quiet hours share one form of a message, and all others another one', async () => {
  const encoding = new GotifyEncoding({
    ...{ tenant: 1, epoch: 'e1', history: { find: async () => undefined } },
    ...{ snapshot: () => undefined, router: () => undefined },
  });
  const [frame] = await encoding.framesOf([notification(1, { rank: 40 })], 0, (error) => {
    throw error;
  });
  const bytesOf = (quiet: QuietHours | undefined) =>
    frame && encoding.bytesFor(frame, { address: { id: 'p', tags: [] }, minRank: 0, quiet }, 0);
  const always = quietHoursOf({ quietFrom: '00:00', quietUntil: '00:00' }, 'UTC');
  const priorityOf = (bytes?: Buffer) => JSON.parse(String(bytes)).priority;
  expect([priorityOf(bytesOf(undefined)), priorityOf(bytesOf(always))]).toEqual([8, 2]);
  expect(bytesOf(undefined)).toBe(bytesOf(undefined));
  expect(bytesOf(always)).toBe(bytesOf(always));
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
