import { expect, it } from 'vitest';
import { clearOf, notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { type NtfyEvent, parseStrictly } from '#test/support/ntfy-client.ts';
import {
  type Acknowledgement,
  belfryAsActor,
  type Clear,
  type Entry,
  type HistoryRecord,
  type LiveNotification,
  type Notification,
  type Return,
} from '../../log/log.ts';
import type { Frame } from '../frame-buffer.ts';
import { NtfyEncoding, type NtfyFrame } from './frames.ts';

/** A log that encodings read. */
function logOf(...entries: readonly Entry[]) {
  const reads = { count: 0 };
  const history = {
    async find(_tenant: number, id: string) {
      reads.count += 1;
      return entries.find((entry) => entry.kind === 'notification' && entry.id === id) as
        | HistoryRecord
        | undefined;
    },
    async readAfter(_tenant: number, position: number, limit: number) {
      reads.count += 1;
      return { head: entries.length, first: 1, entries: entries.slice(position, position + limit) };
    },
  };
  const recordsAt = async () => [];
  const context = {
    ...{ tenant: 1, epoch: 'e1', history: { ...history, recordsAt }, now: () => 5_000 },
    ...{ snapshot: () => undefined, router: () => undefined },
  };
  const encoding = new NtfyEncoding(context);
  const encode = async (...some: readonly Entry[]): Promise<(Frame & { readonly sent: NtfyEvent })[]> => {
    const frames = await encoding.framesOf(some, 5_000, (error) => {
      throw error;
    });
    return [...frames].map((frame) => ({
      ...frame,
      sent: parseStrictly(`{"topic":"t",${frame.bytes.toString().replace(/\n$/, '')}`),
    }));
  };
  return { encode, reads };
}

const replacedBy = (position: number, old: Notification, next: Notification): Clear => ({
  ...clearOf(position, old.position),
  ...{ reason: 'replaced', by: next.id, id: old.id, route: old.route },
});
const acknowledged = (position: number, { id, route }: Notification): Acknowledgement => ({
  ...{ kind: 'acknowledgement', position, id, route, at: 2_000, by: 'Ada', note: null },
});

it('a message has the types that apps read, whatever its sender wrote', async () => {
  const texts = ['', '\n', '"}\n{"', '\u0000\u2028', '🔥'.repeat(4_000), 'x'.repeat(16_384)];
  for (const message of texts) {
    const [frame] = await logOf().encode(
      notification(1, { message, title: 'T', receivedAt: 1_700_000_000_999 }),
    );
    expect(frame?.bytes.toString().trimEnd()).not.toContain('\n');
    expect(frame?.bytes.length).toBeLessThan(32 * 1024);
    expect(frame?.sent.time).toBe(1_700_000_000);
    expect(frame?.sent.message).not.toBe('');
    expect(frame?.sent.message).not.toContain('\uFFFD');
  }
});

it('a message without a text is its title, or the instructions below it', async () => {
  const n = notification(1, { title: 'T', message: '' });
  const [plain] = await logOf().encode(n);
  expect([plain?.sent.title, plain?.sent.message]).toEqual([undefined, 'T']);
  const encoding = new NtfyEncoding({
    ...{ tenant: 1, epoch: 'e1', history: {} as never, now: () => 5_000, snapshot: () => undefined },
    router: () => ({
      instructing: new Map([['r1', { rule: { id: 'r1', name: 'r' }, ordinal: 0, text: 'Run' }]]),
    }),
  });
  const route = routeTo({ all: true }, { rules: [{ id: 'r1', name: 'r' }] });
  const { bytes, filtered } = await encoding.live({ ...n, route } as LiveNotification);
  const sent = parseStrictly(`{"topic":"t",${bytes.toString().trimEnd()}`);
  expect([sent.title, sent.message]).toEqual(['T', 'Instructions:\nRun']);
  expect(JSON.parse(String(filtered)).message).toBe('T');
});

it('a repeat has the sequence of what it replaces, and that is taken off only where the repeat is not shown', async () => {
  const first = notification(1, { key: 'k', rank: 40 });
  const second = notification(3, { key: 'k', rank: 40, route: routeTo({ tags: ['noc'] }) });
  const clear = replacedBy(2, first, second);
  const { encode } = logOf(first, clear, second);
  const frames = await encode(clear, second);
  expect(frames.map(({ position, sent }) => [position, sent.event])).toEqual([
    [2, 'message_clear'],
    [3, 'message'],
  ]);
  expect(frames[0]?.unless).toEqual(second.route.target);
  expect(new Set(frames.map(({ sent }) => sent.sequence_id)).size).toBe(1);
});

it.each([
  ['a higher level', { rank: 50 }],
  ['an escalation', { route: routeTo({ all: true }, { escalated: { times: 1, since: 1 } }) }],
])('%s takes off what it replaces, and rings', async (_, over) => {
  const first = notification(1, { key: 'k', rank: 40 });
  const second = notification(3, { key: 'k', rank: 40, ...over });
  const clear = replacedBy(2, first, second);
  const frames = await logOf(first, clear, second).encode(clear, second);
  expect(frames.map(({ sent }) => sent.event)).toEqual(['message_clear', 'message']);
  expect(frames[0]?.unless).toBeUndefined();
  expect(frames[0]?.sent.sequence_id).not.toBe(frames[1]?.sent.sequence_id);
});

it('what rings again says why, and filters compare the text of its sender', async () => {
  const escalated = { times: 1, since: 0 };
  const n = notification(1, {
    ...{ message: 'full', receivedAt: 300_000 },
    route: routeTo({ all: true }, { escalates: 'n0', escalated }),
  });
  const taken: Return = {
    ...{ kind: 'return', position: 2, id: n.id, at: 400_000, by: 'Ann', route: n.route },
    ...{ from: 'acknowledged', shown: null },
  };
  const { encode } = logOf(n);
  const [first] = await encode(n);
  const [again] = await encode(taken);
  const [over] = await encode({ ...taken, from: 'shelved', by: belfryAsActor });
  expect([first, again, over].map((frame) => frame?.sent.message)).toEqual([
    'Nobody acknowledged this within 5 min.\n\nfull',
    'Open again: acknowledgement taken back by Ann\n\nfull',
    'Open again: the time on the shelf is over\n\nfull',
  ]);
  expect(JSON.parse(String((again as NtfyFrame | undefined)?.filtered)).message).toBe('full');
});

it('a repeat of what somebody has acknowledged does not ring', async () => {
  const first = notification(1, { key: 'k' });
  const second = notification(3, { key: 'k' });
  const entries = [replacedBy(2, first, second), second, acknowledged(4, second)];
  const frames = await logOf(first, ...entries).encode(...entries);
  expect(frames.map(({ position, sent }) => [position, sent.event])).toEqual([
    [2, 'message_clear'],
    [4, 'message_clear'],
  ]);
  // The first is for nobody who gets the repeat.
  expect(frames[0]?.unless).toEqual(second.route.target);
});

it('repeats of an alarm that expires keep its sequence, also for an encoding that has not seen the first', async () => {
  const over = { key: 'k', ttl: 9_000, expiresAt: 10_000 };
  const first = notification(1, over);
  const second = notification(3, over);
  const third = notification(5, over);
  const entries = [first, replacedBy(2, first, second), second, replacedBy(4, second, third), third];
  const [whole, later] = [logOf(...entries), logOf(...entries)];
  const [one] = await whole.encode(first);
  const [two] = await later.encode(...entries.slice(3));
  expect(two?.sent.sequence_id).toBe(one?.sent.sequence_id);
  // One that replaces nothing rings, although a phone may still show the last one.
  const anew = notification(6, over);
  const [three] = await logOf(...entries, anew).encode(anew);
  expect(three?.sent.sequence_id).not.toBe(one?.sent.sequence_id);
});

it('what is new costs no reads, and a long row of repeats a bounded number', async () => {
  const over = { key: 'k', ttl: 9_000, expiresAt: 10_000 };
  const entries: Entry[] = [notification(1, over)];
  for (let i = 0; i < 400; i++) {
    const old = entries.at(-1) as Notification;
    const next = notification(entries.length + 2, over);
    entries.push(replacedBy(entries.length + 1, old, next), next);
  }
  const { encode, reads } = logOf(...entries);
  await encode(...Array.from({ length: 100 }, (_, i) => notification(i + 1)));
  expect(reads.count).toBe(0);
  await encode(entries.at(-1) as Entry);
  expect(reads.count).toBeLessThan(120);
});

it.each([
  ['muted', { route: routeTo({ all: true }, { muted: true }) }],
  ['for no panel', { route: routeTo({}) }],
  ['counted by a throttle', { throttledOn: notification(1).id }],
  ['shelved', { route: routeTo({ all: true }, { shelved: true }) }],
])('what is %s is not sent', async (_, over) => {
  expect(await logOf().encode(notification(2, over))).toEqual([]);
});
