/** Removes what retention does not keep from a database at once, and not by and by as a server does. */
import type { Db } from './database.ts';
import { LogWriter, usualSizes } from './log-writer.ts';
import { Maintenance } from './maintenance.ts';
import { readNewest } from './partitions.ts';

const step = { rows: 10_000, pages: 1_000 };

/** Nobody else has the database open. When this returns, nothing that no tenant keeps is in the file, nor in its free pages. */
export function purge(db: Db): void {
  const log = new LogWriter(db);
  const maintenance = new Maintenance(log.sql, usualSizes, () => log.routes.forget(), { keepsDead: false });
  log.transaction(() => {
    log.indexAll();
    const { indexed, firstRow } = readNewest(log.sql);
    if (indexed >= firstRow) log.closePartition();
  });
  while (log.transaction(() => maintenance.step(step)));
  db.exec('VACUUM');
}
