import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { checkHistory, problemsOf } from '#test/support/history-checker.ts';
import { Load } from '#test/support/load.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { readHistory } from '../api-clients.ts';
import { makeImage, PowerImage, withoutWriteback } from './power-image.ts';

export interface CutOptions {
  /** Where the images lie: not on what is cut. */
  readonly folder: string;
  readonly cuts: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CutOutcome {
  readonly cuts: number;
  /** What the history checker, and SQLite's own check of the file, hold against it; after the first nothing more is cut. */
  readonly problems: readonly string[];
  readonly acknowledged: number;
  readonly lost: number;
  readonly unknown: number;
}

const imageMib = 192;
/** So many on one image, each on what the last one left. */
const cutsAnImage = 5;
const latestCutMs = 1_500;
/** About 100 messages a second: four senders that pause. The others send as fast as they are answered. */
const slowly = { writers: 4, pauseMs: 36 };
const flatOut = { writers: 16 };

/** Cuts the power under load, every second life of a disk at about 100 messages a second; checks after each cut. */
export function cutAgain(options: CutOptions): Promise<CutOutcome> {
  return withoutWriteback(async () => {
    const total = { cuts: 0, problems: [] as string[], acknowledged: 0, lost: 0, unknown: 0 };
    for (let life = 0; total.cuts < options.cuts && total.problems.length === 0; life++) {
      const cuts = Math.min(cutsAnImage, options.cuts - total.cuts);
      const outcome = await oneLife({ ...options, cuts }, life);
      total.cuts += outcome.cuts;
      total.problems.push(...outcome.problems);
      total.acknowledged += outcome.acknowledged;
      total.lost += outcome.lost;
      total.unknown += outcome.unknown;
    }
    return total;
  });
}

async function oneLife({ folder, cuts, env = {} }: CutOptions, life: number): Promise<CutOutcome> {
  const image = (n: number) => join(folder, `life-${life}-${n}.img`);
  let disk = new PowerImage(makeImage(image(0), imageMib));
  try {
    const { token, key } = await credentials(disk.folder);
    const load = new Load({ token, ...(life % 2 === 0 ? slowly : flatOut) });
    let server = await ServerProcess.start({ folder: disk.folder, env });
    for (let n = 1; ; n++) {
      load.start(server.url);
      await moment(50 + Math.random() * latestCutMs);
      await disk.cut(server.pid, image(n));
      await Promise.all([server.exited, load.ended()]);
      disk.remove();
      disk = new PowerImage(image(n));
      server = await ServerProcess.start({ folder: disk.folder, env });
      const verdict = checkHistory(load.sent, await readHistory(server.url, key));
      const found = problemsOf(verdict);
      if (n < cuts && found.length === 0) continue;
      await server.end('SIGTERM');
      return {
        cuts: n,
        problems: [...found, ...damage(disk.folder)],
        acknowledged: load.acknowledged,
        lost: verdict.lost.length,
        unknown: verdict.unknown,
      };
    }
  } finally {
    disk.remove();
  }
}

/** What SQLite's own check finds wrong in the file. */
function damage(folder: string): string[] {
  const path = join(folder, 'belfry.db');
  const db = new Database(path);
  try {
    const rows = db.pragma('integrity_check') as { integrity_check: string }[];
    return rows.map((row) => row.integrity_check).filter((text) => text !== 'ok');
  } finally {
    db.close();
    rmSync(`${path}-shm`, { force: true });
  }
}
