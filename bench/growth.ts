/**
 * What size costs intake: history, rules and tenants, each grown alone, against the smallest in the same round. Writes the
 * curves to docs/growth.svg. Run: node bench/growth.ts HISTORY ROWS, with a file made by history-data.ts.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServerProcess } from '../test/support/server-process.ts';
import { type Curve, lineChart } from './chart.ts';
import { bearer, fire, type Hit } from './http-load.ts';
import { benchFolder } from './machine.ts';
import { notification } from './notification-sample.ts';
import { addRules, addTenants, addToken, makeServable, prepare } from './prepared.ts';
import { median, percent, spread, table, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 5);
const connections = 64;
const goal = 0.9;

/** A database of some size, and the tokens that are used on it in turn. */
interface Place {
  readonly size: number;
  readonly folder: string;
  readonly tokens: readonly string[];
}

const [history = '', rows = '0'] = process.argv.slice(2);
const folder = benchFolder();
try {
  const axes: [name: string, places: Place[]][] = [
    ['notifications in history', [place('empty', 0, onlyTenant), withHistory(history, Number(rows))]],
    [
      'rules',
      [10, 1_000, 10_000].map((count) => place(`rules-${count}`, count, (db) => withRules(db, count))),
    ],
    [
      'tenants',
      [1, 100, 1_000].map((count) =>
        place(`tenants-${count}`, count, (db) => addTenants(db, count).map((id) => addToken(db, id))),
      ),
    ],
  ];
  const lines = [['what', 'size', 'requests/s', 'against the smallest', 'goal']];
  const curves: Curve[] = [];
  for (const [name, places] of axes) {
    const hits = await measure(places);
    const least = rates(hits[0] as Hit[]);
    for (const [i, { size }] of places.entries()) {
      const ratios = rates(hits[i] as Hit[]).map((rate, round) => rate / (least[round] as number));
      lines.push([
        name,
        whole(size),
        spread(rates(hits[i] as Hit[]), whole),
        spread(ratios, percent),
        i === 0 ? '' : `≥ ${percent(goal)}: ${median(ratios) >= goal ? 'reached' : 'missed'}`,
      ]);
    }
    curves.push({ name, points: places.map(({ size }, i) => [size, median(rates(hits[i] as Hit[]))]) });
  }
  console.log(`${rounds} rounds, sizes in turn; ${connections} connections.\n`);
  console.log(table(lines));
  writeFileSync(
    new URL('../docs/growth.svg', import.meta.url),
    lineChart('Durable intake as things grow', 'requests/s', curves),
  );
  console.log('\nAs a picture: [docs/growth.svg](../docs/growth.svg).');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function place(name: string, size: number, fill: Parameters<typeof prepare<string[]>>[1]): Place {
  const own = join(folder, name);
  mkdirSync(own);
  return { size, folder: own, tokens: prepare(join(own, 'belfry.db'), fill) };
}

function onlyTenant(db: Parameters<typeof addTenants>[0]): string[] {
  return addTenants(db, 1).map((id) => addToken(db, id));
}

function withRules(db: Parameters<typeof addTenants>[0], count: number): string[] {
  return addTenants(db, 1).map((id) => {
    addRules(db, id, count);
    return addToken(db, id);
  });
}

function ofHistory(db: Parameters<typeof addTenants>[0]): string[] {
  makeServable(db, 1);
  return [addToken(db, 1)];
}

function withHistory(file: string, size: number): Place {
  const own = join(folder, 'history');
  mkdirSync(own);
  copyFileSync(file, join(own, 'belfry.db'));
  return { size, folder: own, tokens: prepare(join(own, 'belfry.db'), (db) => ofHistory(db)) };
}

/** Every place in each round, in an order that turns. */
async function measure(places: readonly Place[]): Promise<Hit[][]> {
  const hits: Hit[][] = places.map(() => []);
  for (let round = 0; round < rounds; round++) {
    const order = places.map((each, i) => [each, hits[i] as Hit[]] as const);
    for (const [each, found] of round % 2 === 0 ? order : order.toReversed()) found.push(await shoot(each));
  }
  return hits;
}

async function shoot({ folder: own, tokens }: Place): Promise<Hit> {
  const server = await ServerProcess.start({ folder: own });
  const shot = {
    url: `${server.url}/api/notify`,
    headers: tokens.map(bearer),
    body: notification,
    connections,
  };
  try {
    await fire({ ...shot, seconds: 2 });
    return await fire({ ...shot, seconds: 3 });
  } finally {
    await server.end('SIGTERM');
  }
}

function rates(hits: readonly Hit[]): number[] {
  return hits.map(({ perSecond }) => perSecond);
}
