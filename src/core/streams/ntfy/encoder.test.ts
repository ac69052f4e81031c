import { expect, it } from 'vitest';
import type { DisplaySettings } from '#contract/panels/panel.ts';
import { clearOf, notification } from '#test/support/model-log.ts';
import { parseStrictly } from '#test/support/ntfy-client.ts';
import type { Clear, Entry, Notification } from '../../log/log.ts';
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
  const snapshot = { panels: new Map([['p', panel]]), levels: new Map(), record: { timeZone: 'UTC' } };
  const context = {
    ...{ tenant: 1, epoch: 'e1', history: { find }, now: () => now },
    ...{ snapshot: () => snapshot, router: () => undefined },
  } as never;
  const buttons = {
    start: (id: string) => `https://belfry.example.org/${id}`,
    end: ({ position }: { readonly position: number }) => `/${position}`,
  };
  const kind = phoneStreams({ topics: new Map([['p', 'ada']]), filter, buttons });
  const encoding = kind.encoding(context);
  const encoder = kind.encoder(context, encoding, [panel]);
  const priority = async () => {
    const [frame] = await encoding.framesOf([notification(1)], now, fail);
    const bytes = frame && encoder.bytesOf(frame, now);
    return bytes && parseStrictly(bytes.toString().trimEnd()).priority;
  };
  return {
    ...{ encoding, encoder, priority },
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
