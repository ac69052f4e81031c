/**
 * How long `belfry migrate` takes for a history made by history-data.ts: to PostgreSQL, and back. Run: node bench/migrate.ts
 * FILE. BENCH_POSTGRES is the URL of an empty database that keeps the copy; otherwise both copies are deleted.
 */
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { migrateDatabase } from '#server/app.ts';
import { createDatabase } from '#test/support/postgres.ts';
import { benchFolder } from './machine.ts';
import { startBenchPostgres } from './postgres.ts';
import { table, whole } from './statistics.ts';

const file = process.argv[2];
if (!file) {
  console.error('usage: node bench/migrate.ts FILE');
  process.exit(2);
}
const folder = benchFolder();
const own = process.env.BENCH_POSTGRES === undefined ? await startBenchPostgres() : undefined;
try {
  const source = join(folder, 'source.db');
  copyFileSync(file, source);
  const postgres = own ? await createDatabase(own.url) : (process.env.BENCH_POSTGRES as string);
  console.log(
    table([
      ['what', 'entries', 'copied in', 'compared in', 'entries/s copied', 'entries/s in all'],
      await move('SQLite to PostgreSQL', `sqlite:${source}`, postgres),
      await move('PostgreSQL to SQLite', postgres, `sqlite:${join(folder, 'back.db')}`),
    ]),
  );
} finally {
  await own?.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function move(what: string, from: string, to: string): Promise<string[]> {
  const began = performance.now();
  let copied = began;
  let logged = began;
  const {
    log: { rows: entries },
  } = await migrateDatabase({
    from,
    to,
    keyFile: join(folder, 'no.key'),
    onProgress: ({ step, done, total }) => {
      const now = performance.now();
      if (step === 'copying') copied = now;
      if (now - logged < 10_000) return;
      logged = now;
      console.error(`${what}: ${step} ${whole(done)} of ${whole(total)}`);
    },
  });
  const [copying, all] = [copied - began, performance.now() - began].map((time) => time / 1000) as [
    number,
    number,
  ];
  const seconds = (time: number) => `${whole(time)} s`;
  return [
    what,
    whole(entries),
    seconds(copying),
    seconds(all - copying),
    whole(entries / copying),
    whole(entries / all),
  ];
}
