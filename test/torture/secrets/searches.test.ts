import { afterAll, beforeAll, expect, test } from 'vitest';
import type { History } from '#core/log/log.ts';
import { append, seededFolder } from '#test/e2e/history-seed.ts';
import { wrongWith } from '#test/support/fuzz.ts';
import { limitMs } from '#test/support/patience.ts';
import { TestServer } from '#test/support/server.ts';
import { countOf, full, timeLimit } from '../counts.ts';
import { Dice } from '../input/dice.ts';
import { hostileSearch } from '../input/hostile-values.ts';
import { report } from '../report.ts';

const searches = countOf('searches');
const rows = full ? 20_000 : 5_000;
/** Far beyond what any of them takes, far below what anybody waits for. */
const boundMs = limitMs(2_000);

let server: TestServer;
let key: string;
beforeAll(async () => {
  const folder = await seededFolder((history: History, tenant) =>
    append(history, tenant, rows, (i) => ({
      title: `disk ${i % 100} full`,
      message: `é word${i % 1_000} a+b "quoted" ${'text '.repeat(i % 20)}`,
      host: `db-${i % 50}`,
      ip: `10.0.${i % 256}.7`,
      level: i % 3 ? 'error' : 'info',
    })),
  );
  server = await TestServer.start({}, folder);
  key = await server.key();
});
afterAll(() => server?.stop());

test(`${searches} searches that may be none: found, or refused with what would be right, and never for long`, {
  timeout: timeLimit(180_000),
}, async () => {
  const dice = new Dice(20_261_122);
  const statuses = new Map<number, number>();
  const problems: string[] = [];
  let slowest = { ms: 0, q: '' };
  const ask = async (q: string) => {
    const started = performance.now();
    const { status, text, headers } = await server.call(
      'GET',
      `/api/history?limit=50&q=${encodeURIComponent(q.toWellFormed())}`,
      {
        token: key,
      },
    );
    return { status, ms: performance.now() - started, headers: Object.fromEntries(headers), body: text };
  };
  for (let i = 0; i < searches; i++) {
    const q = hostileSearch(dice);
    let answer = await ask(q);
    // What was slow once may have met a busy machine; what is slow is slow again.
    if (answer.ms > boundMs / 4) answer = await ask(q);
    if (answer.ms > slowest.ms) slowest = { ms: answer.ms, q };
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    const wrong = wrongWith(answer);
    if (wrong) problems.push(`${wrong} to ${JSON.stringify(q)}`);
  }
  report({
    promise: 'hostile search strings: 0 answers 5xx, in bounded time',
    method: `words of the query language in any order with hostile texts between them, on ${rows} notifications`,
    count: `${searches} searches`,
    result: `${problems.length} problems; ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}; slowest ${slowest.ms.toFixed(0)} ms`,
  });
  expect(problems).toEqual([]);
  expect(slowest).toMatchObject({ ms: expect.toSatisfy((ms: number) => ms < boundMs) });
  expect(statuses.get(200)).toBeGreaterThan(searches / 20);
});
