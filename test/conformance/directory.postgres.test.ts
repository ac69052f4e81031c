import { afterAll, beforeAll, describe } from 'vitest';

import { missingPostgres, startMs, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { gap } from '../torture/gap.ts';
import { accountsConformance } from './accounts.ts';
import { directoryConformance } from './directory.ts';
import { openDirectoryDatabase } from './postgres-database.ts';

const missing = gap(missingPostgres());
describe.skipIf(missing !== undefined)(missing ?? 'with PostgreSQL', () => {
  let server: TestPostgres;
  beforeAll(async () => {
    server = await startPostgres();
  }, startMs);
  afterAll(() => server.stop());

  const open = () => openDirectoryDatabase(server.url);
  directoryConformance('PostgreSQL', open);
  accountsConformance('PostgreSQL', open);
});
