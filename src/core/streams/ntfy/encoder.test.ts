import { expect, it } from 'vitest';
import type { DisplaySettings } from '#contract/panels/panel.ts';
import { notification } from '#test/support/model-log.ts';
import { parseStrictly } from '#test/support/ntfy-client.ts';
import { type NtfyFilter, phoneStreams } from './encoder.ts';

const at = (time: string) => Date.parse(`2026-11-30T${time}:00Z`);

const fail = (error: unknown) => {
  throw error;
};

/** An open stream of a panel, whose clock can be set. */
function streamOf(display: DisplaySettings, filter: NtfyFilter = {}) {
  let now = at('21:59');
  const panel = { id: 'p', tags: [], display };
  const snapshot = { panels: new Map([['p', panel]]), levels: new Map(), record: { timeZone: 'UTC' } };
  const context = {
    ...{ tenant: 1, epoch: 'e1', history: {}, now: () => now },
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
