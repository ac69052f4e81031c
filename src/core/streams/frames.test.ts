import { expect, test } from 'vitest';
import { ModelLog, notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import type { Notification } from '../log/log.ts';
import { everyPanel, type Target } from '../log/target.ts';
import { type Frame, FrameBuffer } from './frame-buffer.ts';
import { bytesOf, encodeNotification, type FrameContext, frameOf, screenStreams } from './frames.ts';

const context: FrameContext = { epoch: 'e1', router: () => undefined };
const ofTenant = {
  ...context,
  ...{ tenant: 1, history: new ModelLog(), snapshot: () => undefined, now: () => 1_000 },
};
const reader = (group: string) =>
  screenStreams.encoder(ofTenant, screenStreams.encoding(ofTenant), [{ id: 'p1', tags: [group] }]);

function frame(position: number, over: Partial<Notification> = {}, now = 1_000): Frame {
  const made = frameOf(context, notification(position, over), now);
  if (!made) throw new Error('it goes to no panel');
  return made;
}

const to = (target: Partial<Target>) => ({ route: routeTo(target) });
const tagged = (tag: string): Partial<Target> => ({ tags: [tag.padEnd(1_000, 'x')] });

test('a frame keeps its target, and neither the rest of the route nor the texts of the notification', () => {
  const route = routeTo(everyPanel, { rules: [{ id: 'r1', name: 'a rule' }], channels: ['c1'] });
  const { target, bytes, ...others } = frame(7, { title: 'a title', route });
  expect(target).toBe(route.target);
  expect(bytes.toString()).toContain('a title');
  expect(others).toEqual({ position: 7, encodedAt: 1_000, expiresAt: null, ttl: 0 });
});

test('a frame that is sent later has the time that is left then, and is the same otherwise', () => {
  const title = 'say "remainingMs":5, twice: "remainingMs":6,';
  const given = { title, message: 'ünï "count":1', ttl: 90_000, expiresAt: 91_000 };
  const early = frame(1, given);
  const later = (now: number) => bytesOf(early, now)?.toString();
  expect(later(2_000)).toBe(encodeNotification(context, notification(1, given), 1_000));
  for (const now of [2_001, 82_000, 90_999])
    expect(later(now)).toBe(encodeNotification(context, notification(1, given), now));
  expect(later(91_000)).toBeUndefined();
});

test('the bytes of targets count, those of a shared one once, until its last frame has left', () => {
  const bytes = frame(1).bytes.length;
  const shared = to(tagged('a'));
  const buffer = new FrameBuffer(0, { maxBytes: 2_500 + 3 * bytes });
  buffer.push([frame(1, shared), frame(2, shared), frame(3, to(tagged('b')))], 3);
  expect(buffer.floor).toBe(0);
  // A third target: both frames of the first must leave to make room for it.
  buffer.push([frame(4, to(tagged('c')))], 4);
  expect(buffer.floor).toBe(2);
  buffer.push([frame(5, to({ all: true }))], 5);
  expect(buffer.floor).toBe(2);
});

test('the bytes of shared segments are bounded, too', () => {
  const frames = [1, 2, 3].map((position) => frame(position));
  const bytes = frames.reduce((sum, each) => sum + each.bytes.length, 0);
  const segmentsOf = (maxBytes: number) => {
    const buffer = new FrameBuffer(0, { maxBytes });
    buffer.push(frames, 3);
    const segments = ['a', 'b', 'c', 'd', 'a'].map((group) => buffer.after(0, reader(group), 1_000).bytes);
    expect(segments[0]).toHaveLength(bytes);
    return segments;
  };
  const [shared, ...others] = segmentsOf(100 * bytes);
  expect(others.at(-1)).toBe(shared);
  const [left, ...later] = segmentsOf(2 * bytes);
  expect(later.at(-1)).not.toBe(left);
});
