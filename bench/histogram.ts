/**
 * How long a histogram takes for each filter of the query language, over a day, a week and everything, and how long values
 * take to complete, on a history made by history-data.ts. Run: node bench/histogram.ts FILE [SEARCHES PER KIND]
 */
import { histogramTimes, valueFields } from '#core/log/statistics.ts';
import { parseQuery } from '#core/search/search-parser.ts';
import { openReadOnly } from '#storage/sqlite/file/database-file.ts';
import { Statements } from '#storage/sqlite/log/partitions.ts';
import { connectLog } from '#storage/sqlite/log/rows.ts';
import { busiestHosts, countStep, fieldValues } from '#storage/sqlite/search/statistics.ts';
import { hostAddress, hostName, newest, tenant } from './history-data.ts';
import { context, kinds } from './search-kinds.ts';
import { quantile } from './statistics.ts';

const file = process.argv[2];
if (!file) {
  console.error('usage: node bench/histogram.ts FILE [SEARCHES PER KIND]');
  process.exit(2);
}
const each = Number(process.argv[3] ?? 6);
const db = openReadOnly(file);
const dayMs = 86_400_000;
const budgetMs = 500;
const stepMs = 30;
const sql = new Statements(db);
const counter = connectLog(sql);

/** Counts as the search thread does: in steps, until the time is used up. */
async function count(q: string, days: number): Promise<{ ms: number; longest: number; complete: boolean }> {
  const query = parseQuery(q, context);
  const times = histogramTimes(query, { after: newest - days * dayMs, before: newest }, 60, context);
  let ms = 0;
  let longest = 0;
  let next: number | undefined;
  while (ms < budgetMs) {
    const request = { ...times, now: newest, ...(next !== undefined && { next }) };
    const began = performance.now();
    const isOver = () => performance.now() >= began + stepMs;
    const step = await countStep(counter, { tenant, query, request }, isOver);
    ms += step.tookMs;
    longest = Math.max(longest, step.tookMs);
    if (step.next === null) return { ms, longest, complete: true };
    next = step.next;
  }
  return { ms, longest, complete: false };
}

const cell = (value: number) => value.toFixed(1).padStart(8);
const ranges = [1, 7, 90];
console.log(
  `${'milliseconds'.padEnd(20)}${ranges.map((days) => `${`${days} d`.padStart(6)} p50     p99  cut`).join('')}   longest step`,
);
for (const [name, make] of Object.entries(kinds)) {
  let longest = 0;
  const columns: string[] = [];
  for (const days of ranges) {
    const runs = [];
    for (let run = 0; run < each; run++) runs.push(await count(make(), days));
    longest = Math.max(longest, ...runs.map((run) => run.longest));
    const took = runs.map(({ ms }) => ms);
    const cut = runs.filter(({ complete }) => !complete).length;
    columns.push(
      `  ${cell(quantile(took, 0.5))}${cell(quantile(took, 0.99))}${String(cut || '').padStart(5)}`,
    );
  }
  console.log(`${name.padEnd(20)}${columns.join('')} ${cell(longest)}`);
}

async function time(name: string, work: () => unknown): Promise<void> {
  const took = [];
  for (let run = 0; run < each; run++) {
    const started = performance.now();
    await work();
    took.push(performance.now() - started);
  }
  console.log(`${name.padEnd(20)}  ${cell(quantile(took, 0.5))}${cell(quantile(took, 0.99))}`);
}

console.log('\ncompletion and overview');
const prefixes: Readonly<Partial<Record<(typeof valueFields)[number], readonly string[]>>> = {
  host: ['', 'w', hostName(7).slice(0, 5), 'none'],
  ip: ['', '10', hostAddress(7).slice(0, 6), 'fe80'],
  source: ['', '192.0.2.'],
  key: ['', 'check:db', 'none'],
};
for (const field of valueFields)
  for (const prefix of prefixes[field] ?? [])
    await time(`${field}:${prefix}`, () => fieldValues(counter, tenant, { field, prefix, limit: 20 }));
const byMinute = { after: newest - dayMs, before: newest, origin: 0, bucketMs: 60_000, now: newest };
await time('last 24 hours', () => countStep(counter, { tenant, query: { kind: 'all' }, request: byMinute }));
await time('busiest hosts', () => busiestHosts(counter, tenant, newest - dayMs, 10));
db.close();
