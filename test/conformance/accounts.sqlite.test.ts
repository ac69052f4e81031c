import { accountsConformance } from './accounts.ts';
import { openDirectoryDatabase } from './sqlite-database.ts';

accountsConformance('SQLite', openDirectoryDatabase);
