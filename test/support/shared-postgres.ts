/** The PostgreSQL that all test files of a run share. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startMs, startPostgres } from './postgres.ts';

/** The URL of the run's cluster; the first process that needs it starts it. */
export async function sharedPostgres(): Promise<string> {
  // `postgres-setup.ts` creates the folder before the first test, and removes it after the last.
  const folder = process.env.TEST_POSTGRES_FOLDER;
  if (!folder) throw new Error('postgres-setup.ts has not run');
  const [lock, started] = [join(folder, 'lock'), join(folder, 'started')];
  if (takes(lock)) {
    try {
      const { url, folder: data, pid } = await startPostgres();
      writeFileSync(`${started}.new`, JSON.stringify({ url, folder: data, pid }));
      renameSync(`${started}.new`, started);
    } catch (error) {
      rmSync(lock, { recursive: true });
      throw error;
    }
  }
  const until = performance.now() + startMs;
  while (!existsSync(started)) {
    if (performance.now() > until) throw new Error('the PostgreSQL of this run did not start');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return (JSON.parse(readFileSync(started, 'utf8')) as { url: string }).url;
}

function takes(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}
