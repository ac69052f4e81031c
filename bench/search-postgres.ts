/** As search.ts, on PostgreSQL: copies a history made by history-data.ts there first. Run: node bench/search-postgres.ts FILE */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrateDatabase } from '#server/app.ts';
import { createDatabase } from '#test/support/postgres.ts';
import { benchFolder } from './machine.ts';
import { startBenchPostgres } from './postgres.ts';

const file = process.argv[2];
if (!file) {
  console.error('usage: node bench/search-postgres.ts FILE');
  process.exit(2);
}
const folder = benchFolder();
const postgres = await startBenchPostgres();
try {
  const source = join(folder, 'source.db');
  copyFileSync(file, source);
  const url = await createDatabase(postgres.url);
  const keyFile = join(folder, 'no.key');
  await migrateDatabase({ from: `sqlite:${source}`, to: url, keyFile, onProgress: () => undefined });
  const script = fileURLToPath(new URL('./search.ts', import.meta.url));
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', script, url], {
    stdio: 'inherit',
  });
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
