import { createSqliteBuilder } from '../../src/storage/sqlite/builder.ts';
import { openMemoryExecutor } from '../support/memory-executor.ts';
import { directoryConformance } from './directory.ts';

directoryConformance('SQLite in memory', async () => {
  const executor = openMemoryExecutor();
  return { builder: createSqliteBuilder(), executor, close: async () => executor.close() };
});
