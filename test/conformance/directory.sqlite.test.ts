import { directoryConformance } from './directory.ts';
import { openDirectoryDatabase } from './sqlite-database.ts';

directoryConformance('SQLite', openDirectoryDatabase);
