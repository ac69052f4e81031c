import { expect, it } from 'vitest';
import type { DisplaySettings } from '#contract/panels/panel.ts';
import { clearOf, notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { parseStrictly } from '#test/support/ntfy-client.ts';
import type { Clear, Entry, Notification } from '../../log/log.ts';
import { createLastSounds } from '../last-sounds.ts';
import { type NtfyFilter, phoneStreams } from './encoder.ts';

const at = (time: string) => Date.parse(`2026-11-30T${time}:00Z`);

const fail = (error: unknown) => {
  throw error;
};

/** An open stream of a panel, whose clock can be set. */
function streamOf(display: DisplaySettings, filter: NtfyFilter = {}, known: readonly Entry[] = []) {
  const find = async (_tenant: number, id: string) =>
    known.find((entry) => entry.kind === 'notification' && entry.id === id);
  let now = at('21:59');
  const panel = { id: 'p', tags: [], display };
  const snapshot = {
    panels: new Map([['p', panel]]),
    levels: new Map([['error', { rank: 40 }]]),
    record: { timeZone: 'UTC' },
  };
  const context = {
    ...{ tenant: 1, epoch: 'e1', history: { find }, now: () => now },
    ...{ snapshot: () => snapshot, router: () => undefined, lastSounds: createLastSounds() },
  } as never;
  const buttons = {
    start: (id: string) => `https://belfry.example.org/${id}`,
    end: ({ position }: { readonly position: number }) => `/${position}`,
  };
  const kind = phoneStreams({ topics: new Map([['p', 'ada']]), filter, buttons });
  const encoding = kind.encoding(context);
  const encoder = kind.encoder(context, encoding, [panel]);
  /** Of the line of each entry; undefined: it has none. */
  const prioritiesOf = async (entries: readonly Entry[], by = encoder) =>
    [...(await encoding.framesOf(entries, now, fail))].map((frame) => {
      const line = by.bytesOf(frame, now)?.toString().trimEnd();
      return line && parseStrictly(line).priority;
    });
  const priority = async () => (await prioritiesOf([notification(1)]))[0];
  /** Another connection, which has everything up to this position. */
  const connectAfter = (cursor: number, filter: NtfyFilter = {}) => {
    const other = phoneStreams({ topics: new Map([['p', 'ada']]), filter, buttons });
    const again = other.encoder(context, encoding, [panel]);
    again.ready({ resume: 'replayed' } as never, { cursor, retryMs: 0 });
    return again;
  };
  return {
    ...{ encoding, encoder, priority, prioritiesOf, connectAfter },
    setClock(time: string) {
      now = at(time);
    },
  };
}

/** The events that a stream with a filter gets for these entries, each batch as it comes. */
async function eventsOf(filter: NtfyFilter, ...batches: readonly Entry[][]) {
  const { encoding, encoder } = streamOf({}, filter, batches.flat());
  const events: (string | undefined)[] = [];
  for (const batch of batches)
    for (const frame of await encoding.framesOf(batch, at('12:00'), fail)) {
      const line = encoder.bytesOf(frame, at('12:00'))?.toString().trimEnd();
      if (line !== undefined) events.push(parseStrictly(line).title ?? parseStrictly(line).event);
    }
  return events;
}

const replaced = (position: number, { id }: Notification): Clear => ({
  ...clearOf(position, position - 1),
  ...{ reason: 'replaced', by: id },
});

it.each<[string, NtfyFilter, string[]]>([
  ['everything', {}, ['disk', 'other', 'disk', 'message_clear']],
  ['the text of the first', { title: 'disk' }, ['disk', 'message_clear', 'disk', 'message_clear']],
  ['the text of the second', { title: 'other' }, ['other', 'message_clear']],
  ['another text', { title: 'none' }, []],
])('repeats with other texts leave nothing on a phone that reads %s', async (_, filter, expected) => {
  const [first, second, third] = [1, 3, 5].map((position) =>
    notification(position, { key: 'k', title: position === 3 ? 'other' : 'disk' }),
  ) as [Notification, Notification, Notification];
  const entries = [first, replaced(2, second), second, replaced(4, third), third, clearOf(6, 5)];
  expect(await eventsOf(filter, ...entries.map((entry) => [entry]))).toEqual(expected);
});

it('a phone that was away learns that what it shows was replaced by what its filter leaves out', async () => {
  const first = notification(1, { key: 'k', title: 'disk' });
  const second = notification(3, { key: 'k', title: 'other' });
  const later = [replaced(2, second), second, clearOf(4, 3)];
  const events = await eventsOf({ title: 'disk' }, [first], later);
  expect(events).toEqual(['disk', 'message_clear']);
});

const night = { quietFrom: '22:00', quietUntil: '23:00' };

it('a stream that stays open stops ringing when the quiet hours begin, and rings when they end', async () => {
  const { priority, setClock } = streamOf(night);
  expect(await priority()).toBe(4);
  setClock('22:00');
  expect(await priority()).toBe(2);
  setClock('23:00');
  expect(await priority()).toBe(4);
});

it('a client that asks for a priority gets in quiet hours what it gets outside of them', async () => {
  const { priority, setClock } = streamOf(night, { priorities: [4] });
  expect(await priority()).toBe(4);
  setClock('22:30');
  expect(await priority()).toBe(2);
  const lower = streamOf(night, { priorities: [2] });
  lower.setClock('22:30');
  expect(await lower.priority()).toBeUndefined();
});

it('a button is of the message; that of the live set is of its head, as the alarm may have come back since its notification', async () => {
  const { encoder, encoding } = streamOf({});
  const now = at('12:00');
  const alarm = notification(1);
  const urlIn = (line = '') => parseStrictly(line).actions?.[0]?.url;
  const [frame] = await encoding.framesOf([alarm], now, fail);
  expect(urlIn(frame && encoder.bytesOf(frame, now)?.toString().trimEnd())).toBe(
    'https://belfry.example.org/p/1',
  );
  const shown = { ...alarm, count: 1, acknowledged: null };
  for (const head of [7, 9])
    expect(urlIn((await encoder.live(shown, { now, head })).trimEnd())).toBe(
      `https://belfry.example.org/p/${head}`,
    );
});

const pause = { ringPauseMs: 60_000 };
/** A notification at so many seconds. */
const sentAt = (position: number, seconds: number, over: Partial<Notification> = {}) =>
  notification(position, { receivedAt: seconds * 1000, ...over });
const [warning, critical] = [{ rank: 30 }, { rank: 50 }];

it('what follows one that rang is silent for the pause; a higher level rings, and begins the pause anew', async () => {
  const { prioritiesOf } = streamOf(pause);
  const entries = [
    sentAt(1, 0, warning),
    sentAt(2, 1, warning),
    sentAt(3, 30, critical),
    sentAt(4, 61, warning),
    sentAt(5, 89, critical),
    sentAt(6, 90, warning),
    sentAt(7, 91, warning),
  ];
  expect(await prioritiesOf(entries)).toEqual([4, 2, 5, 2, 2, 4, 2]);
});

it('without the setting, everything rings', async () => {
  const { prioritiesOf } = streamOf({});
  expect(await prioritiesOf([sentAt(1, 0), sentAt(2, 0)])).toEqual([4, 4]);
});

it('a message that is asked for twice is the same both times', async () => {
  const { encoding, encoder } = streamOf(pause);
  const frames = await encoding.framesOf([sentAt(1, 0), sentAt(2, 0)], 0, fail);
  const lines = [...frames].flatMap((frame) => [1, 2].map(() => String(encoder.bytesOf(frame, 0))));
  expect(lines.map((line) => parseStrictly(line.trimEnd()).priority)).toEqual([4, 4, 2, 2]);
});

it('a client that connects again stays in the pause, but rings for what rang and did not reach it', async () => {
  const { prioritiesOf, connectAfter } = streamOf(pause);
  const entries = [sentAt(1, 0), sentAt(2, 1), sentAt(3, 2)];
  await prioritiesOf(entries);
  expect(await prioritiesOf(entries, connectAfter(0))).toEqual([4, 2, 2]);
  expect(await prioritiesOf(entries.slice(1), connectAfter(1))).toEqual([2, 2]);
  // 1 has ended in the meantime, so it is not sent.
  expect(await prioritiesOf(entries.slice(1), connectAfter(0))).toEqual([4, 2]);
});

it('what a filter leaves out of a stream has not rung there', async () => {
  const { prioritiesOf, connectAfter } = streamOf(pause);
  const entries = [sentAt(1, 0), sentAt(2, 1)];
  await prioritiesOf(entries);
  expect(await prioritiesOf(entries, connectAfter(1, { title: 'n2' }))).toEqual([undefined, 4]);
});

it('what the quiet hours or the lowest level of the panel keep from ringing begins no pause', async () => {
  const { prioritiesOf, setClock } = streamOf({ ...pause, ...night });
  setClock('22:30');
  expect(await prioritiesOf([sentAt(1, 0)])).toEqual([2]);
  setClock('23:00');
  expect(await prioritiesOf([sentAt(2, 1)])).toEqual([4]);
  const high = streamOf({ ...pause, minLevel: 'error' });
  expect(await high.prioritiesOf([sentAt(1, 0, warning), sentAt(2, 1)])).toEqual([undefined, 4]);
});

it('a test alarm always rings, and begins no pause', async () => {
  const { prioritiesOf } = streamOf(pause);
  const test = { ...critical, tokenId: 'belfry:test' };
  const entries = [sentAt(1, 0, test), sentAt(2, 0, critical), sentAt(3, 0, test)];
  expect(await prioritiesOf(entries)).toEqual([5, 5, 5]);
});

it('a further step of an escalation rings like a higher level, its repeats do not', async () => {
  const { prioritiesOf } = streamOf(pause);
  const step = (times: number) => ({
    route: routeTo({ all: true }, { escalates: 'n', escalated: { times, since: 0 } }),
  });
  const { escalates, ...repeating } = step(2).route;
  const entries = [
    sentAt(1, 0),
    ...[1, 1, 2].map((times, i) => sentAt(i + 2, 1, step(times))),
    sentAt(5, 2, { route: repeating }),
  ];
  expect(await prioritiesOf(entries)).toEqual([4, 4, 2, 4, 2]);
});

it('a repeat, which changes what the phone shows without a sound, begins no pause', async () => {
  const [first, second] = [0, 2].map((i) => sentAt(i + 1, i * 60, { key: 'k' })) as [
    Notification,
    Notification,
  ];
  const other = sentAt(4, 121);
  const { prioritiesOf } = streamOf(pause, {}, [first, second, other]);
  expect(await prioritiesOf([first])).toEqual([4]);
  expect(await prioritiesOf([replaced(2, second), second])).toEqual([undefined, 4]);
  expect(await prioritiesOf([other])).toEqual([4]);
});

it('of an alarm that has repeated meanwhile a phone gets the newest, which rings and begins the pause', async () => {
  const [first, second] = [1, 3].map((position) => sentAt(position, 0, { key: 'k' })) as [
    Notification,
    Notification,
  ];
  const { prioritiesOf } = streamOf(pause);
  const entries = [first, replaced(2, second), second, sentAt(4, 1)];
  expect(await prioritiesOf(entries)).toEqual([undefined, 4, 2]);
});

it('what takes off a message has no sound, and begins no pause', async () => {
  const { encoding, encoder, prioritiesOf } = streamOf(pause, {}, [notification(1)]);
  const [end] = await encoding.framesOf([{ ...clearOf(2, 1), at: 60_000 }], 0, fail);
  expect(parseStrictly(String(end && encoder.bytesOf(end, 0)).trimEnd()).event).toBe('message_clear');
  expect(await prioritiesOf([sentAt(3, 61)])).toEqual([4]);
});

it('of the alarms that stand, as a new client gets them, the first rings', async () => {
  const { encoder } = streamOf(pause);
  const shown = { count: 1, acknowledged: null };
  const lines = [1, 2].map((position) => ({ ...sentAt(position, position), ...shown }));
  const texts = await Promise.all(lines.map((each) => encoder.live(each, { now: 0, head: 2 })));
  expect(texts.map((line) => parseStrictly(line.trimEnd()).priority)).toEqual([4, 2]);
});

it('a clock that is set back makes no pause longer', async () => {
  const { prioritiesOf } = streamOf(pause);
  expect(await prioritiesOf([sentAt(1, 3_600), sentAt(2, 0)])).toEqual([4, 4]);
});
