import type { Directory } from '#core/tenants/directory.ts';
import type { Database } from '../database/sql.ts';
import { createAnswerProblems } from '../deliveries/answer-problems.ts';
import { createChannels, createPushDevices } from '../deliveries/channels.ts';
import { createCredentials } from '../people/credentials.ts';
import { createInvitations } from '../people/invitations.ts';
import { createMembers } from '../people/members.ts';
import { createTenants } from '../people/tenants.ts';
import { createAuditLog } from './audit.ts';
import { createLevels } from './levels.ts';
import { createMappings } from './mappings.ts';
import { createOnCall } from './on-call.ts';
import { createPairings, createPanels } from './panels.ts';
import { createRules } from './rules.ts';
import { createSavedSearches } from './saved-searches.ts';

/** The directory on any database. */
export function createDirectory(db: Database): Directory {
  return {
    tenants: createTenants(db),
    credentials: createCredentials(db),
    rules: createRules(db),
    levels: createLevels(db),
    panels: createPanels(db),
    pairings: createPairings(db),
    savedSearches: createSavedSearches(db),
    mappings: createMappings(db),
    channels: createChannels(db),
    pushDevices: createPushDevices(db),
    answerProblems: createAnswerProblems(db),
    onCall: createOnCall(db),
    members: createMembers(db),
    invitations: createInvitations(db),
    auditLog: createAuditLog(db),

    async changedSince(revision) {
      const rows = await db.read(
        db
          .selectFrom('meta')
          .leftJoin('tenants', (join) => join.on((each) => each('tenants.changed', '>', revision)))
          .select(['meta.value as epoch', 'tenants.id', 'tenants.changed'])
          .where('meta.name', '=', 'epoch')
          .orderBy('tenants.changed'),
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
