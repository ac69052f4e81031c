import { expect, it } from 'vitest';
import type { DisplaySettings } from '#contract/panels/panel.ts';
import { notification } from '#test/support/model-log.ts';
import { parseStrictly } from '#test/support/ntfy-client.ts';
import { type NtfyFilter, phoneStreams } from './encoder.ts';

const at = (time: string) => Date.parse(`2026-11-30T${time}:00Z`);

/** An open stream of a panel, whose clock can be set. */
function streamOf(display: DisplaySettings, filter: NtfyFilter = {}) {
  let now = at('21:59');
  const panel = { id: 'p', tags: [], display };
  const snapshot = { panels: new Map([['p', panel]]), levels: new Map(), record: { timeZone: 'UTC' } };
  const context = {
    ...{ tenant: 1, epoch: 'e1', history: {}, now: () => now },
    ...{ snapshot: () => snapshot, router: () => undefined },
  } as never;
  const kind = phoneStreams({ topics: new Map([['p', 'ada']]), filter });
  const encoding = kind.encoding(context);
  const encoder = kind.encoder(context, encoding, [panel]);
  const priority = async () => {
    const [frame] = await encoding.framesOf([notification(1)], now, (error) => {
      throw error;
    });
    const bytes = frame && encoder.bytesOf(frame, now);
    return bytes && parseStrictly(bytes.toString().trimEnd()).priority;
  };
  return {
    priority,
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
