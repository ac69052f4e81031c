/** Tests with PostgreSQL: most share one cluster for the whole run, some have their own. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { gap } from '../torture/gap.ts';
import { missingPostgres, startMs, startPostgres, type TestPostgres } from './postgres.ts';

/** Where `postgres-setup.ts` lets the run's cluster be found: it exists from the start of the run to its end. */
const folderName = 'TEST_POSTGRES_FOLDER';

/** Runs `suite` with the cluster that all files of the run share; `server` answers its URL, as a superuser. */
export function describeWithPostgres(name: string, suite: (server: () => string) => void): void {
  const missing = gap(missingPostgres());
  describe.skipIf(missing !== undefined)(missing ?? name, () => {
    let url = '';
    beforeAll(async () => {
      url = await sharedPostgres(process.env[folderName] ?? '');
    }, startMs);
    suite(() => url);
  });
}

/** Runs `suite` with a cluster that it may stop. */
export function describeWithOwnPostgres(
  name: string,
  options: { readonly durable?: boolean },
  suite: (server: () => TestPostgres) => void,
): void {
  const missing = gap(missingPostgres());
  describe.skipIf(missing !== undefined)(missing ?? name, () => {
    let server: TestPostgres | undefined;
    beforeAll(async () => {
      server = await startPostgres(options);
    }, startMs);
    afterAll(() => server?.stop());
    suite(() => server as TestPostgres);
  });
}

/** The URL of the run's cluster: the first process that asks starts it. */
export async function sharedPostgres(folder: string): Promise<string> {
  const [lock, started] = [join(folder, 'lock'), join(folder, 'started')];
  if (folder !== '' && takes(lock)) {
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
