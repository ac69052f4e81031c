/** Starts PostgreSQL before tests that store in it. Without PostgreSQL they store in SQLite, with a message. */

import { missingPostgres } from './postgres.ts';
import { setup as setUpFolder } from './postgres-setup.ts';
import { sharedPostgres } from './shared-postgres.ts';
import { skipReason } from './skip-reason.ts';

export async function setup(): Promise<() => void> {
  const end = await setUpFolder();
  const missing = skipReason(missingPostgres());
  if (missing === undefined) process.env.TEST_POSTGRES_URL = await sharedPostgres();
  else console.error(missing);
  return end;
}
