import { describeWithPostgres } from '../support/with-postgres.ts';
import { accountsConformance } from './accounts.ts';
import { directoryConformance } from './directory.ts';
import { openDirectoryDatabase } from './postgres-database.ts';

describeWithPostgres('with PostgreSQL', (server) => {
  const open = () => openDirectoryDatabase(server());
  directoryConformance('PostgreSQL', open);
  accountsConformance('PostgreSQL', open);
});
