import { afterAll, beforeAll, describe } from 'vitest';

import { missingPostgres, startMs, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { gap } from '../torture/gap.ts';
import { historyConformance } from './history.ts';
import { historyOpener } from './postgres-database.ts';

const missing = gap(missingPostgres());
describe.skipIf(missing !== undefined)(missing ?? 'with PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, startMs);
  afterAll(() => server.stop());

  historyConformance(
    'PostgreSQL',
    historyOpener(() => server.url),
  );
  /** So that a short history has several partitions. */
  historyConformance(
    'PostgreSQL, in small partitions',
    historyOpener(() => server.url, 200),
  );
});
