/** Tests with PostgreSQL: most share one cluster for the whole run, some have their own. */
import { afterAll, beforeAll, describe } from 'vitest';
import { missingPostgres, startMs, startPostgres, type TestPostgres } from './postgres.ts';
import { sharedPostgres } from './shared-postgres.ts';
import { skipReason } from './skip-reason.ts';

/** Runs `suite` with the cluster that all files of the run share; `server` returns its URL, as a superuser. */
export function describeWithPostgres(name: string, suite: (server: () => string) => void): void {
  const missing = skipReason(missingPostgres());
  describe.skipIf(missing !== undefined)(missing ?? name, () => {
    let url = '';
    beforeAll(async () => {
      url = await sharedPostgres();
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
  const missing = skipReason(missingPostgres());
  describe.skipIf(missing !== undefined)(missing ?? name, () => {
    let server: TestPostgres | undefined;
    beforeAll(async () => {
      server = await startPostgres(options);
    }, startMs);
    afterAll(() => server?.stop());
    suite(() => server as TestPostgres);
  });
}
