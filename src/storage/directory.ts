import type { Directory } from '#core/directory.ts';
import { createAuditLog } from './audit-log.ts';
import { createCredentials } from './credentials.ts';
import { createInvitations } from './invitations.ts';
import { createLevels } from './levels.ts';
import { createMembers } from './members.ts';
import { createPairings } from './pairings.ts';
import { createPanels } from './panels.ts';
import { createRules } from './rules.ts';
import { createSavedSearches } from './saved-searches.ts';
import type { Builder } from './schema.ts';
import type { SqlExecutor } from './sql.ts';
import { createTenants } from './tenants.ts';

/** The directory over any database that `executor` reaches and `db` writes the dialect of. */
export function createDirectory(db: Builder, executor: SqlExecutor): Directory {
  return {
    tenants: createTenants(db, executor),
    credentials: createCredentials(db, executor),
    rules: createRules(db, executor),
    levels: createLevels(db, executor),
    panels: createPanels(db, executor),
    pairings: createPairings(db, executor),
    savedSearches: createSavedSearches(db, executor),
    members: createMembers(db, executor),
    invitations: createInvitations(db, executor),
    auditLog: createAuditLog(db, executor),

    async changedSince(revision) {
      const changed = await executor.read(
        db
          .selectFrom('tenants')
          .select(['id', 'changed'])
          .where('changed', '>', revision)
          .orderBy('changed')
          .compile(),
      );
      return { revision: changed.at(-1)?.changed ?? revision, tenants: changed.map(({ id }) => id) };
    },

    async epoch() {
      const [row] = await executor.read(
        db.selectFrom('meta').select('value').where('name', '=', 'epoch').compile(),
      );
      if (!row) throw new Error('the database has no epoch: it was not made by the migrations');
      return row.value;
    },
  };
}
