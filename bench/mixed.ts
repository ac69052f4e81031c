/**
 * Intake at half of its peak, first alone, then while history is pruned and a backup is made, then with everything else at the same
 * time: 1,000 panels and a dashboard that searches without pause. Also the cost of the searches alone for intake. Run: node
 * bench/mixed.ts HISTORY ROWS
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { belfry, ServerProcess } from '#test/support/server-process.ts';
import { bearer, runLoad } from './http-load.ts';
import { benchFolder, measureFsync } from './machine.ts';
import { notification } from './notification-sample.ts';
import type { Paced, PaceOrder } from './open-loop.ts';
import { addKey, addRule, addToken, copyHistory, makeServable, prepare } from './prepared.ts';
import { call, connectPanels, forkScript, notifyRequest, registerPanel, subscribe } from './processes.ts';
import { everydaySearches } from './search-kinds.ts';
import { median, ms, percent, spread, table, whole } from './statistics.ts';

const [history = '', rows = '0'] = process.argv.slice(2);
const panels = 1_000;
/** How many panels a rule shows the notifications on; the others are connected but get none. */
const inGroup = 20;
const group = 'control-room';
const paceSeconds = 10;
const stormRounds = 5;
/** The server begins to prune a minute after its start. */
const pruningAfterMs = 61_000;
const folder = benchFolder();
const path = join(folder, 'belfry.db');
copyHistory(history, path);
const { token, key } = prepare(path, (db) => {
  makeServable(db, 1);
  addRule(db, 1, group);
  return { token: addToken(db, 1), key: addKey(db, 1) };
});
const env = { BELFRY_RETENTION_COUNT: String(Math.floor(Number(rows) / 2)), BELFRY_RETENTION_DAYS: 'off' };
const began = performance.now();
const server = await ServerProcess.start({ folder, env });
const load = {
  url: `${server.url}/api/notify`,
  headers: [bearer(token)],
  body: notification,
  connections: 64,
};
try {
  await runLoad({ ...load, seconds: 2 });
  const storm = await stormCost();
  const peak = median(storm.map(({ alone }) => alone));
  const alone = await pace(peak / 2);
  await sleep(Math.max(0, pruningAfterMs - (performance.now() - began)));
  const maintained = await besideBackup(peak / 2);
  const together = await besideEverything(peak / 2);
  report(storm, peak, { alone, maintained, together });
} finally {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}

/** Requests per second without and with searches, in turn. */
async function stormCost(): Promise<{ alone: number; beside: number; searches: number }[]> {
  const found: { alone: number; beside: number; searches: number }[] = [];
  for (let round = 0; round < stormRounds; round++) {
    const alone = (await runLoad({ ...load, seconds: 2 })).perSecond;
    const stop = search(4);
    const beside = (await runLoad({ ...load, seconds: 2 })).perSecond;
    found.push({ alone, beside, searches: (await stop()) / 2 });
  }
  return found;
}

async function pace(perSecond: number): Promise<Paced> {
  const request = notifyRequest(token, JSON.parse(notification) as object);
  const sender = forkScript(new URL('./open-loop.ts', import.meta.url));
  const order: PaceOrder = { port: server.port, request, perSecond, seconds: paceSeconds, connections: 128 };
  try {
    return await call<Paced>(sender, order);
  } finally {
    sender.disconnect();
  }
}

/** A backup of ten million notifications takes longer than the load. */
async function besideBackup(perSecond: number): Promise<Paced> {
  const backup = belfry(folder, 'backup', '--force', join(folder, 'backup.db'));
  try {
    return await pace(perSecond);
  } finally {
    await backup;
  }
}

async function besideEverything(perSecond: number): Promise<Paced> {
  const ids = await Promise.all(
    Array.from({ length: panels / inGroup }, (_, room) =>
      registerPanel(server.url, token, `room ${room}`, room === 0 ? [group] : []),
    ),
  );
  const requests = Array.from({ length: panels }, (_, i) => subscribe(ids[i % ids.length] as string, token));
  const readers = await connectPanels(server.port, requests);
  const stop = search(1);
  try {
    return await besideBackup(perSecond);
  } finally {
    await stop();
    readers.disconnect();
  }
}

/** Starts this many callers that search in a loop. Returns a function that stops them and returns the number of searches. */
function search(callers: number): () => Promise<number> {
  let stopped = false;
  let done = 0;
  const calling = Array.from({ length: callers }, async (_, caller) => {
    for (let i = caller; !stopped; i++) {
      const q = encodeURIComponent(everydaySearches[i % everydaySearches.length] as string);
      const answer = await fetch(`${server.url}/api/history?q=${q}`, { headers: bearer(key) });
      await answer.arrayBuffer();
      if (answer.status === 200) done += 1;
    }
  });
  return async () => {
    stopped = true;
    await Promise.all(calling);
    return done;
  };
}

function report(
  storm: Awaited<ReturnType<typeof stormCost>>,
  peak: number,
  { alone, maintained, together }: { alone: Paced; maintained: Paced; together: Paced },
): void {
  const fsync = measureFsync();
  const bound = fsync.p99 + 10;
  const share = storm.map(({ alone: before, beside }) => beside / before);
  console.log(
    `History of ${whole(Number(rows))}; peak ${whole(peak)} requests/s at 64 connections. Paced at half of it for ${paceSeconds} s on 128 connections, each latency from the time the request was due.\n`,
  );
  const line = (what: string, { p50, p99, p999, most, refused }: Paced) => [
    what,
    ms(p50),
    ms(p99),
    ms(p999),
    ms(most),
    String(refused),
    `p99 ≤ ${ms(bound)} (fsync p99 + 10 ms): ${p99 <= bound ? 'reached' : 'missed'}`,
  ];
  console.log(
    table([
      ['intake at half of peak', 'p50', 'p99', 'p99.9', 'most', 'refused', 'goal'],
      line('alone', alone),
      line('while partitions are sealed and dropped and a backup is made', maintained),
      line(
        `with ${whole(panels)} panels, of which each goes to ${inGroup}, searches, pruning and a backup`,
        together,
      ),
    ]),
  );
  console.log(
    `\n${table([
      ['intake flat out', 'requests/s', 'share', 'goal'],
      [
        'alone',
        spread(
          storm.map((each) => each.alone),
          whole,
        ),
        '',
        '',
      ],
      [
        `beside four callers who search (${whole(median(storm.map((each) => each.searches)))} a second)`,
        spread(
          storm.map((each) => each.beside),
          whole,
        ),
        spread(share, percent),
        `≥ 90 %: ${median(share) >= 0.9 ? 'reached' : 'missed'}`,
      ],
    ])}`,
  );
}
