import type { Directory } from '#core/directory.ts';
import { createAuditLog } from './audit-log.ts';
import { createChannels } from './channels.ts';
import { createCredentials } from './credentials.ts';
import { createInvitations } from './invitations.ts';
import { createLevels } from './levels.ts';
import { createMappings } from './mappings.ts';
import { createMembers } from './members.ts';
import { createPairings } from './pairings.ts';
import { createPanels } from './panels.ts';
import { createPushDevices } from './push-devices.ts';
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
    mappings: createMappings(db, executor),
    channels: createChannels(db, executor),
    pushDevices: createPushDevices(db, executor),
    members: createMembers(db, executor),
    invitations: createInvitations(db, executor),
    auditLog: createAuditLog(db, executor),

    async changedSince(revision) {
      const rows = await executor.read(
        db
          .selectFrom('meta')
          .leftJoin('tenants', (join) => join.on((each) => each('tenants.changed', '>', revision)))
          .select(['meta.value as epoch', 'tenants.id', 'tenants.changed'])
          .where('meta.name', '=', 'epoch')
          .orderBy('tenants.changed')
          .compile(),
      );
      const [first] = rows;
      if (!first) throw new Error('the database has no epoch: it was not made by the migrations');
      return {
        epoch: first.epoch,
        revision: rows.at(-1)?.changed ?? revision,
        tenants: rows.flatMap(({ id }) => id ?? []),
      };
    },
  };
}
