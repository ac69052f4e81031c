/**
 * The cost of size: history, panels, rules and tenants, each grown separately. For each size: durable intake, the time from POST
 * to event, searches, and memory. The servers of all sizes run at once and are measured one after the other in short rounds: a
 * machine that is slow for a while is slow for all of them. Writes the curves to docs/growth.svg. Run: node
 * bench/growth.ts HISTORY ROWS, with a file made by history-data.ts.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '#test/support/server-process.ts';
import { type Chart, chartSheet } from './chart.ts';
import { deliver, measuredTitle } from './delivery.ts';
import { generateHistory } from './history-data.ts';
import { bearer, type LoadOptions, runLoad } from './http-load.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { notification } from './notification-sample.ts';
import {
  addKey,
  addRule,
  addRules,
  addTenants,
  addToken,
  copyHistory,
  makeServable,
  prepare,
} from './prepared.ts';
import { connectPanels, notifyRequest, registerPanel, subscribe } from './processes.ts';
import { everydaySearches } from './search-kinds.ts';
import { median, ms, percent, quantile, spread, table, times, whole } from './statistics.ts';

const rounds = Number(process.env.BENCH_ROUNDS ?? 9);
const connections = 64;
const goal = 0.95;
const settleMs = 3_000;
const loadSeconds = 2;
const deliveryRounds = 3;
const searchTurns = 5;
/** Events a second over all panels, the same at each size: with more panels, fewer notifications. */
const eventsPerSecond = 20_000;
const deliverySeconds = 3;
/** A panel that connects gets what has not expired: it must expire before the next round. */
const measured = { title: measuredTitle, message: 'Measured', level: 'warning', ttl: 5_000 };

/** A database of some size, the credentials to use it, and the number of its panels. */
interface Place {
  readonly size: number;
  readonly folder: string;
  readonly tokens: readonly string[];
  readonly key: string;
  readonly panels: number;
}

interface Axis {
  readonly name: string;
  readonly places: readonly Place[];
  /** The size that the others are compared with. */
  readonly base: number;
  /** Whether a size must reach {@link goal} of the base's intake. */
  readonly hasGoal: boolean;
}

interface Measured {
  /** Requests per second, of each round. */
  readonly intake: readonly number[];
  readonly p50: number;
  readonly p99: number;
  readonly search: number;
  readonly searchP99: number;
  readonly memory: number;
}

/** The charts, and the value of each. */
const measures = [
  {
    name: 'Durable intake',
    unit: 'requests/s',
    of: (m: Measured) => median(m.intake),
    cost: (m: Measured) => 1 / median(m.intake),
  },
  { name: 'POST to event, median', unit: 'ms', of: (m: Measured) => m.p50, cost: (m: Measured) => m.p50 },
  { name: 'Search, median', unit: 'ms', of: (m: Measured) => m.search, cost: (m: Measured) => m.search },
  { name: 'Memory', unit: 'MiB', of: (m: Measured) => m.memory, cost: (m: Measured) => m.memory },
] as const;

const [history = '', rows = '0'] = process.argv.slice(2);
const folder = benchFolder();
try {
  const axes: Axis[] = [
    { name: 'notifications in history', base: 0, hasGoal: true, places: histories(history, Number(rows)) },
    {
      name: 'panels connected',
      base: 1,
      hasGoal: false,
      places: [1, 10, 100, 1_000, 10_000].map((count) =>
        place({ name: `panels-${count}`, size: count, panels: count }, (db) => addTenants(db, 1), toNobody),
      ),
    },
    {
      name: 'rules',
      base: 10,
      hasGoal: true,
      places: [1, 10, 100, 1_000, 10_000].map((count) =>
        place(
          { name: `rules-${count}`, size: count },
          (db) => addTenants(db, 1),
          (db, tenant) => addRules(db, tenant, count),
        ),
      ),
    },
    {
      name: 'tenants',
      base: 1,
      hasGoal: true,
      places: [1, 10, 100, 1_000].map((count) =>
        place({ name: `tenants-${count}`, size: count }, (db) => addTenants(db, count)),
      ),
    },
  ];
  const found: Measured[][] = [];
  for (const { places } of axes) found.push(await measure(places));
  report(axes, found);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

type Prepared = Parameters<Parameters<typeof prepare>[1]>[0];

function place(
  { name, size, panels = 1 }: { name: string; size: number; panels?: number },
  tenantsOf: (db: Prepared) => number[],
  fill: (db: Prepared, tenant: number) => void = () => undefined,
): Place {
  const own = join(folder, name);
  mkdirSync(own, { recursive: true });
  return prepare(join(own, 'belfry.db'), (db) => {
    const tenants = tenantsOf(db);
    for (const tenant of tenants) fill(db, tenant);
    const tokens = tenants.map((tenant) => addToken(db, tenant));
    return { size, panels, folder: own, tokens, key: addKey(db, tenants[0] as number) };
  });
}

/** Notifications of the load go to a tag that no panel carries. */
function toNobody(db: Prepared, tenant: number): void {
  addRule(db, tenant, 'nobody');
}

/** None, decades from 100,000 on, and the file that was given. */
function histories(file: string, most: number): Place[] {
  const places = [place({ name: 'history-0', size: 0 }, (db) => addTenants(db, 1))];
  for (let size = 100_000; size <= most; size *= 10) {
    const name = `history-${size}`;
    mkdirSync(join(folder, name));
    const path = join(folder, name, 'belfry.db');
    if (size === most) copyHistory(file, path);
    else generateHistory(path, size);
    places.push(place({ name, size }, () => [1], makeServable));
  }
  return places;
}

interface Running {
  readonly place: Place;
  readonly server: ServerProcess;
  readonly load: LoadOptions;
  /** Of its panels: each opens a stream. */
  readonly requests: readonly string[];
}

type Delivered = Omit<Measured, 'intake' | 'memory'>;

async function measure(places: readonly Place[]): Promise<Measured[]> {
  const running: Running[] = [];
  try {
    for (const place of places) running.push(await start(place));
    const readers = await Promise.all(
      running.map(({ server, requests }) => connectPanels(server.port, requests)),
    );
    await sleep(settleMs);
    const memory = running.map(({ server }) => residentMiB(server.pid));
    const intake = await intakeInTurn(running.map(({ load }) => load));
    for (const each of readers) each.disconnect();
    await sleep(settleMs);
    const rest = await deliveryAndSearchInTurn(running);
    return running.map((_, i) => ({
      intake: intake[i] as number[],
      memory: memory[i] as number,
      ...(rest[i] as Delivered),
    }));
  } finally {
    for (const { server } of running) await server.end('SIGTERM');
  }
}

async function start(place: Place): Promise<Running> {
  const { folder: own, tokens, panels } = place;
  const server = await ServerProcess.start({ folder: own });
  const [token = ''] = tokens;
  try {
    const ids = await Promise.all(
      Array.from({ length: Math.min(panels, 20) }, (_, i) => registerPanel(server.url, token, `wall ${i}`)),
    );
    const requests = Array.from({ length: panels }, (_, i) =>
      subscribe(ids[i % ids.length] as string, token),
    );
    const headers = tokens.map(bearer);
    const load = { url: `${server.url}/api/notify`, headers, body: notification, connections };
    return { place, server, load: { ...load, seconds: loadSeconds }, requests };
  } catch (error) {
    await server.end('SIGTERM');
    throw error;
  }
}

/** Requests per second of each load, by rounds, after a round that only warms up. Each round begins with another load. */
async function intakeInTurn(loads: readonly LoadOptions[]): Promise<number[][]> {
  const found: number[][] = loads.map(() => []);
  for (const load of loads) await runLoad(load);
  for (let round = 0; round < rounds; round++) {
    for (const [i, load] of inTurn(loads, round)) found[i]?.push((await runLoad(load)).perSecond);
  }
  return found;
}

async function deliveryAndSearchInTurn(running: readonly Running[]): Promise<Delivered[]> {
  const found: Delivered[][] = running.map(() => []);
  for (let round = 0; round < deliveryRounds; round++) {
    if (round > 0) await sleep(measured.ttl);
    for (const [i, each] of inTurn(running, round)) found[i]?.push(await deliveryAndSearch(each));
  }
  return found.map((each) => {
    const pick = (of: (one: Delivered) => number) => median(each.map(of));
    return {
      p50: pick((one) => one.p50),
      p99: pick((one) => one.p99),
      search: pick((one) => one.search),
      searchP99: pick((one) => one.searchP99),
    };
  });
}

/** All items with their indexes, beginning with another in each round. */
function inTurn<T>(items: readonly T[], round: number): [number, T][] {
  const all = [...items.entries()];
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

async function deliveryAndSearch({
  place: { tokens, key, panels },
  server,
  requests,
}: Running): Promise<Delivered> {
  const perSecond = Math.min(100, eventsPerSecond / panels);
  const { p50, p99 } = await deliver(
    { port: server.port, subscribe: requests, publish: notifyRequest(tokens[0] as string, measured) },
    { panels, count: perSecond * deliverySeconds, connections: 8, perSecond },
  );
  const searches = await search(server.url, key);
  return { p50, p99, search: median(searches), searchP99: quantile(searches, 0.99) };
}

/** Milliseconds, one search after the other. */
async function search(url: string, key: string): Promise<number[]> {
  const took: number[] = [];
  for (let turn = 0; turn < searchTurns; turn++) {
    for (const q of everydaySearches) {
      const began = performance.now();
      const answer = await fetch(`${url}/api/history?q=${encodeURIComponent(q)}`, { headers: bearer(key) });
      await answer.arrayBuffer();
      if (answer.status !== 200) throw new Error(`a search for ${q} answers ${answer.status}`);
      took.push(performance.now() - began);
    }
  }
  return took;
}

function report(axes: readonly Axis[], found: readonly (readonly Measured[])[]): void {
  const lines = [
    [
      'what',
      'size',
      'intake, requests/s',
      'of the base',
      'POST → event p50',
      'p99',
      'search p50',
      'p99',
      'memory',
      'goal',
    ],
  ];
  const steep: string[] = [];
  for (const [a, { name, places, base, hasGoal }] of axes.entries()) {
    const ofBase = found[a]?.[places.findIndex(({ size }) => size === base)] as Measured;
    for (const [p, { size }] of places.entries()) {
      const here = found[a]?.[p] as Measured;
      const shares = here.intake.map((each, round) => each / (ofBase.intake[round] as number));
      lines.push([
        name,
        whole(size),
        spread(here.intake, whole),
        size === base ? '' : spread(shares, percent),
        ms(here.p50),
        ms(here.p99),
        ms(here.search),
        ms(here.searchP99),
        `${whole(here.memory)} MiB`,
        hasGoal && size > base ? `≥ ${percent(goal)}: ${median(shares) >= goal ? 'reached' : 'missed'}` : '',
      ]);
      for (const { name: what, cost } of measures) {
        const factor = cost(here) / cost(ofBase);
        if (size > base && factor > nLogN(size) / nLogN(base))
          steep.push(`${what} at ${whole(size)} ${name} (${times(factor)})`);
      }
    }
  }
  console.log(
    `${rounds} rounds of intake for ${loadSeconds} s, sizes in turn, all of their servers running, then ${deliveryRounds} of events and searches; sizes are those before the load; intake on ${connections} connections, by notifications that go to none of the panels; events to all of the panels, one where nothing else is said, ${whole(eventsPerSecond)} events/s at the most.\n`,
  );
  console.log(table(lines));
  console.log(`\nWorse than n·log n: ${steep.join(', ') || 'nothing'}.`);
  const charts = measures.map(
    ({ name, unit, of }): Chart => ({
      title: name,
      unit,
      curves: axes.map((axis, a) => ({
        name: axis.name,
        points: axis.places.map(({ size }, p) => [size, of(found[a]?.[p] as Measured)]),
      })),
    }),
  );
  writeFileSync(new URL('../docs/growth.svg', import.meta.url), chartSheet(charts));
  console.log('\nAs a picture: [docs/growth.svg](../docs/growth.svg).');
}

function nLogN(size: number): number {
  const n = Math.max(2, size);
  return n * Math.log2(n);
}
