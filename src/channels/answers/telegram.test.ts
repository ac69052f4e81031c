import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Answered, ChannelAnswer } from '#core/channels/answers.ts';
import { createOutbound, type Outbound } from '#outbound/outbound.ts';
import { eventually } from '#test/support/eventually.ts';
import { TelegramBotApi } from '#test/support/telegram-bot-api.ts';
import { answerData } from '../buttons.ts';
import type { SourceOptions } from './source.ts';
import { createTelegramPolling } from './telegram.ts';

const bot = '1:x';
const id = '01930000-0000-7000-8000-000000000001';
const data = answerData('acknowledge', id, id);
const notStored = 'a press could not be stored, and is tried again';
const quick = { baseMs: 1, capMs: 1 };

let api: TelegramBotApi;
let startPolling: ReturnType<typeof createTelegramPolling>;
let took: ChannelAnswer[];
let events: string[];
/** What happens to the next presses; then they are done. */
let results: (Answered | undefined | Error | Promise<Answered>)[];
beforeEach(async () => {
  api = await TelegramBotApi.start(bot);
  [startPolling, took, events, results] = [createTelegramPolling(quick), [], [], []];
});
afterEach(() => api.close());

function poll({ channel = id, outbound = createOutbound(['127.0.0.1']) }: PollOptions = {}) {
  const setup = { id: channel, settings: { url: api.url, chat: '-100' }, secrets: { token: bot } };
  const source = startPolling({
    ...{ channel: { tenant: 1, id: channel }, setup, outbound },
    onAnswer: async (answer: ChannelAnswer) => {
      const result = results.length === 0 ? 'done' : results.shift();
      if (result instanceof Error) throw result;
      const outcome = await result;
      if (outcome) took.push(answer);
      return outcome;
    },
    showAnswer: async () => undefined,
    onProblem: ({ message }: Error) => events.push(message),
    onWorking: () => events.push('working'),
    onLost: ({ message }: Error) => events.push(`lost: ${message}`),
  } as unknown as SourceOptions);
  onTestFinished(() => source.close());
  return source;
}
interface PollOptions {
  readonly channel?: string;
  readonly outbound?: Outbound;
}
const press = () => api.press(bot, data, { chat: -100 });
const confirmed = () => eventually(() => expect(api.pending(bot)).toBe(0));

test('a press that cannot be stored, or whose channel is being changed, comes again, before those behind it', async () => {
  results = [new Error('the database is away'), undefined];
  for (let i = 0; i < 2; i += 1) press();
  poll();
  await confirmed();
  expect(took).toHaveLength(2);
  expect(events).toEqual(['lost: the database is away', notStored, 'working']);
  expect(api.callsOf('answerCallbackQuery')).toHaveLength(2);
});

test('a press that fails ten times is dropped, and those behind it count', async () => {
  results = Array.from({ length: 10 }, () => new Error('no'));
  for (let i = 0; i < 2; i += 1) press();
  poll();
  await confirmed();
  expect(took).toHaveLength(1);
  const dropped = 'lost: a press was dropped after 10 tries';
  expect(events).toEqual(['lost: no', ...Array(9).fill(notStored), dropped, 'working']);
});

test.each([
  ['a page of a proxy', 502, '<html>Bad gateway</html>'],
  ['no list', 200, '{"ok":true,"result":{}}'],
  ['a list of something else', 200, '{"ok":true,"result":[7,{"update_id":"1"}]}'],
  ['what is too deep', 200, '['.repeat(200)],
])('%s is no answer of the Bot API, and presses count afterwards', async (_, status, body) => {
  api.failure = { status, body };
  press();
  poll();
  await eventually(() => expect(events.length).toBeGreaterThan(1));
  api.failure = undefined;
  await confirmed();
  expect(events[0]).toBe(`answered ${status}, but not as the Bot API of Telegram does`);
  expect(events.at(-1)).toBe('working');
  expect(took).toHaveLength(1);
});

test('it waits as long as Telegram says', async () => {
  const body = '{"ok":false,"description":"Too Many Requests","parameters":{"retry_after":2}}';
  api.failure = { status: 429, body };
  const began = performance.now();
  poll();
  await eventually(() => expect(events).toEqual(['Telegram answered 429: Too Many Requests']));
  api.failure = undefined;
  await eventually(() => expect(events).toContain('working'));
  expect(performance.now() - began).toBeGreaterThan(1_990);
  expect(api.callsOf('getUpdates').length).toBeGreaterThanOrEqual(2);
});

test('what answers at once, again and again, is asked twice a second', async () => {
  const [times, counts]: [number[], number[]] = [[], []];
  const updates = (first: number) =>
    Array.from({ length: 3 }, (_, i) => ({ update_id: first + i, callback_query: { id: '', data } }));
  poll({
    outbound: {
      request: async ({ body = '' }) => {
        times.push(performance.now());
        counts.push((JSON.parse(body) as { limit: number }).limit);
        return {
          status: 200,
          headers: {},
          body: JSON.stringify({ ok: true, result: updates(times.length) }),
        };
      },
    } as unknown as Outbound,
  });
  await eventually(() => expect(times.length).toBeGreaterThan(4));
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1_950);
  expect(counts[0]).toBe(10);
});

test('of an answer with more presses than were asked for, the first ones are done', async () => {
  const takenBefore: number[] = [];
  poll({
    outbound: {
      request: async ({ url, body = '' }: { url: string; body?: string }) => {
        if (!url.endsWith('/getUpdates')) return { status: 200, headers: {}, body: '{}' };
        takenBefore.push(took.length);
        const { offset = 0 } = JSON.parse(body) as { offset?: number };
        const result = Array.from({ length: 100 }, (_, i) => ({
          update_id: offset + i,
          callback_query: { id: 'q', data, message: { chat: { id: -100 } } },
        }));
        return { status: 200, headers: {}, body: JSON.stringify({ ok: true, result }) };
      },
    } as unknown as Outbound,
  });
  await eventually(() => expect(takenBefore.length).toBeGreaterThan(2));
  expect(takenBefore.slice(0, 3)).toEqual([0, 10, 20]);
});

test('closing waits for the press that is being done, and confirms it', async () => {
  let finish: (outcome: Answered) => void = () => undefined;
  results = [new Promise((resolve) => (finish = resolve))];
  press();
  press();
  const source = poll();
  await eventually(() => expect(results).toHaveLength(0));
  let isClosed = false;
  const closed = source.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  finish('done');
  await closed;
  expect(took).toHaveLength(1);
  // The second one is for the next reader.
  expect(api.pending(bot)).toBe(1);
  poll();
  await confirmed();
  expect(took).toHaveLength(2);
});

test('closing ends a poll at once', async () => {
  const source = poll();
  await eventually(() => expect(api.isPolled(bot)).toBe(true));
  await source.close();
  await eventually(() => expect(api.isPolled(bot)).toBe(false));
  expect(events).toEqual(['working']);
});

test('a press during a change of its channel counts afterwards, while another channel keeps the bot', async () => {
  const other = '01930000-0000-7000-8000-000000000002';
  poll({ channel: other });
  const source = poll();
  await eventually(() => expect(api.isPolled(bot)).toBe(true));
  await source.close();
  press();
  await eventually(() => expect(api.isPolled(bot)).toBe(false));
  poll();
  await confirmed();
  expect(took).toHaveLength(1);
  expect(events.filter((event) => event !== 'working')).toEqual([]);
  // One that does not come back.
  api.press(bot, data.replace(/\.[^.]+\./, `.${'A'.repeat(22)}.`), { chat: -100 });
  await confirmed();
  await eventually(() =>
    expect(api.callsOf('answerCallbackQuery').map(({ json }) => json.text)).toEqual([
      'Done.',
      'This button no longer works.',
    ]),
  );
});
