import { afterAll, beforeAll, describe } from 'vitest';
import { describeWithPostgres } from '../support/with-postgres.ts';
import { historyConformance } from './history.ts';
import { type HistoryDatabase, newTenant } from './history-lab.ts';
import { loopConformance } from './history-loop.ts';
import { historyOpener } from './postgres-database.ts';

describeWithPostgres('with PostgreSQL', (server) => {
  historyConformance('PostgreSQL', historyOpener(server));
  /** So that a short history has several partitions. */
  historyConformance('PostgreSQL, in small partitions', historyOpener(server, { partitionRows: 200 }));

  describe('history on PostgreSQL, in tiny partitions', () => {
    const open = historyOpener(server, { partitionRows: 25, blockRows: 10 });
    let database: HistoryDatabase;
    beforeAll(async () => {
      database = await open();
    });
    afterAll(() => database.close());
    loopConformance(() => ({ database, open, newTenant: () => newTenant(database) }));
  });
});
