import { expect, test } from 'vitest';
import { cardOf } from '../../../test/support/card-of.ts';
import { ApiError } from '../../client/api-error.ts';
import type { BoardChange } from '../../client/board.ts';
import type { Client } from '../../client/client.ts';
import type { PanelEvent } from '../../client/panel-event.ts';
import type { Receipts } from '../../contract/panel.ts';
import { Session } from './session.ts';

const note = (id: string): PanelEvent => ({ type: 'notification', data: cardOf({ id }).notification });

/** A session whose server says `events` and then `end`. */
function sessionOf(events: readonly PanelEvent[], end: () => Promise<void> | void) {
  const receipts: Receipts[number][] = [];
  const kinds: BoardChange['kind'][] = [];
  const commands: string[] = [];
  const client = {
    async *panelEvents() {
      yield* events;
      await end();
    },
    async receipts(_panel: string, batch: Receipts) {
      receipts.push(...batch);
      return batch.length;
    },
  } as unknown as Client;
  const session = new Session({
    client,
    panelId: 'p',
    screen: 'panel/0.0.0',
    now: () => 1_000,
    onReturn: () => undefined,
    onCommand: ({ type }) => commands.push(type),
    onChange: (changes) => kinds.push(...changes.map(({ kind }) => kind)),
  });
  return { session, receipts, kinds, commands };
}

const refuse = (status: number, message: string) => () => {
  throw new ApiError(status, message);
};

test.each([
  [401, 'unauthorized', 'revoked'],
  [403, 'forbidden', 'refused'],
  [404, 'there is no such panel', 'deleted'],
] as const)('a session ends when the server itself answers %i', async (status, message, reason) => {
  const { session } = sessionOf([], refuse(status, message));
  expect(await session.run(new AbortController().signal)).toBe(reason);
});

test('an answer of something in front of the server ends nothing', async () => {
  const { session } = sessionOf([note('a')], refuse(404, 'the server answered 404 Not Found'));
  const stop = new AbortController();
  void session.run(stop.signal);
  await expect.poll(() => session.connection.state).toBe('waiting');
  expect(session.board.cards()).toHaveLength(1);
  stop.abort();
});

test('shown is told once, and what was cleared or replaced is told as cleared', async () => {
  const stop = new AbortController();
  const { session, receipts, kinds } = sessionOf(
    [
      note('a'),
      note('b'),
      { type: 'clear', data: { id: 'a', position: 3, reason: 'cleared', by: 'x' } },
      { type: 'clear', data: { id: 'b', position: 4, reason: 'replaced', by: 'c' } },
    ],
    () => stop.abort(),
  );
  const a = cardOf({ id: 'a' });
  session.shown([a]);
  session.shown([a]);
  await session.run(stop.signal);
  expect(kinds).toEqual(['added', 'added', 'cleared', 'replaced']);
  await expect
    .poll(() => receipts.map(({ id, state }) => `${id} ${state}`))
    .toEqual(['a shown', 'a cleared', 'b cleared']);
  expect([session.isKnown('a'), session.isKnown('z')]).toEqual([true, false]);
});

test('what somebody wants of the screen is told, and changes nothing that it shows', async () => {
  const events: PanelEvent[] = [
    note('a'),
    { type: 'identify', data: { durationMs: 5_000 } },
    { type: 'reload', data: {} },
    { type: 'test', data: { durationMs: 20_000 } },
  ];
  const { session, kinds, commands } = sessionOf(events, refuse(401, 'unauthorized'));
  await session.run(new AbortController().signal);
  expect(commands).toEqual(['identify', 'reload', 'test']);
  expect(kinds).toEqual(['added']);
});
