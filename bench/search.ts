/**
 * How long a page of history takes, for each filter of the query language and for their pairs, on a history made by
 * history-data.ts. Run: node bench/search.ts FILE [SEARCHES PER KIND]. FILE may also be the URL of a PostgreSQL database to which
 * `belfry migrate` copied the history; processor time is then only that of this process.
 */
import { parseQuery } from '#core/search/search-parser.ts';
import { openPostgres } from '#storage/postgres/open.ts';
import { openReadOnly } from '#storage/sqlite/file/database-file.ts';
import { Statements } from '#storage/sqlite/log/partitions.ts';
import { connectLog } from '#storage/sqlite/log/rows.ts';
import { searchPage } from '#storage/sqlite/search/search.ts';
import { newest, tenant } from './history-data.ts';
import { Dice } from './history-text.ts';
import { context, kinds } from './search-kinds.ts';

const pageLimit = 50;
const file = process.argv[2];
if (!file) {
  console.error('usage: node bench/search.ts FILE [SEARCHES PER KIND [SECONDS FOR THE PAIRS]]');
  process.exit(2);
}
const each = Number(process.argv[3] ?? 40);
const pairsMs = 1000 * Number(process.argv[4] ?? Number.POSITIVE_INFINITY);
/** Searches that were refused. */
const failed: string[] = [];
const isPostgres = file.startsWith('postgres:');
const options = { limit: pageLimit, now: newest };
const { page, close } = isPostgres ? await onPostgres(file) : onSqlite(file);

interface Searched {
  page(text: string): unknown;
  close(): unknown;
}

function onSqlite(path: string): Searched {
  const db = openReadOnly(path);
  const sql = new Statements(db);
  const open = connectLog(sql);
  return {
    page: (text) => searchPage(open, { tenant, query: parseQuery(text, context), options }),
    close: () => db.close(),
  };
}

async function onPostgres(url: string): Promise<Searched> {
  const storage = await openPostgres({ url, queueCapacity: 1, onProblem: () => undefined });
  // As a server does: removes expired notifications from the live set, and indexes the rest.
  while ((await storage.sweep(newest)) > 0);
  while (await storage.indexNext?.());
  return {
    // A page ends after two seconds, as the server has it.
    page: (text) =>
      storage.history
        .search(tenant, parseQuery(text, context), { ...options, timeoutMs: 2_000 })
        .catch(() => failed.push(text)),
    close: () => storage.close(),
  };
}

interface Timed {
  readonly name: string;
  /** Elapsed and processor time in milliseconds: other work on the machine affects only the elapsed time. */
  readonly times: number[];
  readonly busy: number[];
  slowest: string;
}

/** The times that decide which filters are slow: elapsed time on PostgreSQL, otherwise processor time. */
const judged = ({ times, busy }: Timed) => (isPostgres ? times : busy);

async function time(name: string, make: () => string, runs: number): Promise<Timed> {
  const timed: Timed = { name, times: [], busy: [], slowest: '' };
  for (let run = 0; run < runs; run++) {
    const text = make();
    const cpu = process.cpuUsage();
    const started = performance.now();
    await page(text);
    const ms = performance.now() - started;
    const { user, system } = process.cpuUsage(cpu);
    const busyMs = (user + system) / 1000;
    timed.times.push(ms);
    timed.busy.push(busyMs);
    if (judged(timed).at(-1) === Math.max(...judged(timed))) timed.slowest = text;
  }
  return timed;
}

const at = (times: readonly number[], share: number) =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * share))] as number;
const print = ({ name, times, busy, slowest }: Timed) => {
  const columns = [at(times, 0.5), at(times, 0.99), at(busy, 0.5), at(busy, 0.99)].map((ms) =>
    ms.toFixed(1).padStart(8),
  );
  console.log(`${name.padEnd(32)} ${columns.join('')}   ${slowest}`);
};

console.log(`${'milliseconds'.padEnd(32)}      p50     p99 cpu p50 cpu p99   slowest`);
// The first searches have cold pages, as after a start; they are measured separately.
const cold = await time('first of each kind, cold', () => '', 0);
for (const make of Object.values(kinds)) {
  const { times, busy } = await time('', make, 1);
  cold.times.push(...times);
  cold.busy.push(...busy);
}
print(cold);
console.log('\nfilters');
const single: Timed[] = [];
for (const [name, make] of Object.entries(kinds)) single.push(await time(name, make, each));
for (const timed of single) print(timed);
console.log('\nslowest pairs');
const pairs: Timed[] = [];
const entries = Object.entries(kinds).filter(([name]) => name !== 'everything');
const dice = new Dice(11);
const order = entries
  .flatMap((one, i) => entries.slice(i + 1).map((other) => ({ one, other, place: dice.next() })))
  .sort((a, b) => a.place - b.place);
const endsAt = performance.now() + pairsMs;
for (const { one, other } of order) {
  if (performance.now() > endsAt) break;
  const [[name, make], [otherName, makeOther]] = [one, other];
  pairs.push(await time(`${name} + ${otherName}`, () => `${make()} ${makeOther()}`, Math.ceil(each / 4)));
}
pairs.sort((a, b) => at(judged(b), 0.99) - at(judged(a), 0.99));
for (const timed of pairs.slice(0, 40)) print(timed);
const summed = (name: string, list: readonly Timed[]): Timed => ({
  name,
  times: list.flatMap(({ times }) => times),
  busy: list.flatMap(({ busy }) => busy),
  slowest: '',
});
console.log();
print(summed(`all ${single.length} filters`, single));
print(summed(`${pairs.length} of ${order.length} pairs`, pairs));
const over = (share: number, ms: number) => pairs.filter((timed) => at(judged(timed), share) > ms).length;
console.log(
  isPostgres
    ? `pairs over 200 ms at p99: ${over(0.99, 200)}; over 100 ms at p50: ${over(0.5, 100)}`
    : `pairs over 100 ms of processor at p99: ${over(0.99, 100)}; over 20 ms at p50: ${over(0.5, 20)}`,
);
if (failed.length > 0) console.log(`refused: ${failed.length}, such as ${failed.slice(0, 5).join('; ')}`);
await close();
