import { type CompiledQuery, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TenantId } from '#core/log/route.ts';
import type { CredentialRecord, Directory } from '#core/tenants/directory.ts';
import type { AuditRow, Database, Statement } from '#storage/database/sql.ts';
import { createDirectory } from '#storage/directory/directory.ts';
import { auditLogConformance } from './directory-audit-log.ts';
import { channelsConformance } from './directory-channels.ts';
import { credentialsConformance } from './directory-credentials.ts';
import { dueTimesConformance } from './directory-due-times.ts';
import { invitationsConformance } from './directory-invitations.ts';
import { levelsConformance } from './directory-levels.ts';
import { mappingsConformance } from './directory-mappings.ts';
import { membersConformance } from './directory-members.ts';
import { onCallConformance } from './directory-on-call.ts';
import { pairingsConformance } from './directory-pairings.ts';
import { panelsConformance } from './directory-panels.ts';
import { pushDevicesConformance } from './directory-push-devices.ts';
import { ruleVersionsConformance } from './directory-rule-versions.ts';
import { rulesConformance } from './directory-rules.ts';
import { savedSearchesConformance } from './directory-saved-searches.ts';
import { tenantsConformance } from './directory-tenants.ts';

/** An empty, migrated database. */
export interface DirectoryDatabase {
  readonly dialect: 'sqlite' | 'postgres';
  readonly db: Database;
  close(): Promise<void>;
}

/** What the suites work with. Every test makes tenants of its own, so that tests share one database and never meet. */
export interface DirectoryLab {
  readonly directory: Directory;
  newTenant(): Promise<TenantId>;
  /** Somebody who is a member nowhere; answers the id. */
  newPerson(name: string, email?: string): Promise<string>;
  /** A tenant's audit rows since the last call, oldest first; without its creation. */
  audit(tenant: TenantId): Promise<readonly (Omit<AuditRow, 'detail'> & { readonly detail: unknown })[]>;
  /** Whether `changedSince` reports `work` as a change. */
  reportsChange(tenant: TenantId, work: () => Promise<unknown>): Promise<boolean>;
  rows(
    table: 'rules' | 'audit' | 'invitations',
    tenant: TenantId,
  ): Promise<readonly Record<string, unknown>[]>;
  /** Parameters stand in the statement as `?`. */
  execute(statement: string, parameters: readonly unknown[]): Promise<void>;
  /** The index that the database reads for a query, and whether it sorts what it read. */
  planOf(statement: Statement): Promise<{ readonly index: string; readonly sorts: boolean }>;
  readonly db: Database;
}

/** Every promise of core/tenants/directory.ts, to be run against every backend. */
export function directoryConformance(backend: string, open: () => Promise<DirectoryDatabase>): void {
  describe(`the directory on ${backend}`, () => {
    let database: DirectoryDatabase;
    let lab: DirectoryLab;

    beforeAll(async () => {
      database = await open();
      lab = createLab(database);
    });
    afterAll(() => database.close());

    const suites: Record<string, (lab: () => DirectoryLab) => void> = {
      tenants: tenantsConformance,
      credentials: credentialsConformance,
      rules: rulesConformance,
      'rule versions': ruleVersionsConformance,
      levels: levelsConformance,
      panels: panelsConformance,
      pairings: pairingsConformance,
      'saved searches': savedSearchesConformance,
      mappings: mappingsConformance,
      'on call': onCallConformance,
      channels: channelsConformance,
      'push devices': pushDevicesConformance,
      members: membersConformance,
      invitations: invitationsConformance,
      'audit log': auditLogConformance,
      'due times': dueTimesConformance,
    };
    for (const [name, suite] of Object.entries(suites)) describe(name, () => suite(() => lab));

    test('the epoch stays the same', async () => {
      const { epoch } = await lab.directory.changedSince(0);
      expect(epoch).toMatch(/^[0-9a-z]{1,32}$/);
      expect(await lab.directory.changedSince(1e9)).toEqual({ epoch, revision: 1e9, tenants: [] });
    });
  });
}

function createLab({ dialect, db }: DirectoryDatabase): DirectoryLab {
  const directory = createDirectory(db);
  const returned = new Set<string>();
  let made = 0;
  const numbered = (statement: string) => {
    let number = 0;
    return dialect === 'postgres' ? statement.replaceAll('?', () => `$${++number}`) : statement;
  };
  const execute: DirectoryLab['execute'] = async (statement, parameters) => {
    const query = db.selectFrom('meta').selectAll().compile();
    await db.write([asGiven({ ...query, sql: numbered(statement), parameters })]);
  };
  const rows: DirectoryLab['rows'] = (table, tenant) =>
    db.read(db.selectFrom(table).selectAll().where('tenant', '=', tenant).orderBy('id'));
  return {
    directory,
    rows,

    async newTenant() {
      made += 1;
      return (await directory.tenants.create(`lab-${made}`, 'A lab', 'test', 1)).id;
    },

    async audit(tenant) {
      const all = (await rows('audit', tenant)) as unknown as AuditRow[];
      const fresh = all.filter(({ id, action }) => action !== 'tenant.create' && !returned.has(id));
      for (const { id } of fresh) returned.add(id);
      return fresh.map((row) => ({ ...row, detail: JSON.parse(row.detail) as unknown }));
    },

    async reportsChange(tenant, work) {
      const { revision } = await directory.changedSince(0);
      await work();
      const { revision: later, tenants } = await directory.changedSince(revision);
      const isReported = tenants.includes(tenant);
      if (isReported !== later > revision)
        throw new Error('the revision and the reported tenants do not fit each other');
      return isReported;
    },

    execute,
    db,

    async newPerson(name, email = `${name}-${made++}@example.org`) {
      const id = `person-${made++}`;
      await execute('insert into people (id, email, name, created_at, updated_at) values (?, ?, ?, 1, 1)', [
        id,
        email,
        name,
      ]);
      return id;
    },

    async planOf(statement) {
      const query = statement.compile(db);
      if (dialect === 'sqlite') {
        const rows = await db.read(asGiven({ ...query, sql: `explain query plan ${query.sql}` }));
        const plan = rows.map((row) => (row as { detail: string }).detail).join('; ');
        const [, index = ''] = /USING (?:COVERING )?(?:INDEX )?(PRIMARY KEY|\w+)/.exec(plan) ?? [];
        return { index: index.toLowerCase(), sorts: plan.includes('TEMP B-TREE') };
      }
      await db.write([sql`analyze audit`]);
      const rows = await db.read(asGiven({ ...query, sql: `explain ${query.sql}` }));
      const plan = rows.map((row) => (row as unknown as Record<string, string>)['QUERY PLAN']).join('; ');
      const [, index = ''] = /(?:using|Bitmap Index Scan on) (\w+)/.exec(plan) ?? [];
      return { index: index.replace(/^\w+_pkey$/, 'primary key'), sorts: plan.includes('Sort') };
    },
  };
}

const asGiven = (query: CompiledQuery): Statement => ({ compile: () => query });

/** A token without anything special. */
export function tokenRecord(
  tenant: TenantId,
  id: string,
  over: Partial<CredentialRecord> = {},
): CredentialRecord {
  return {
    tenant,
    id,
    kind: 'token',
    name: `token ${id}`,
    hash: `hash of ${id}`,
    scopes: ['notify'],
    rate: null,
    panelId: null,
    role: null,
    allowFrom: [],
    allowInUrl: false,
    createdAt: 1000,
    createdBy: 'test',
    lastUsedAt: null,
    lastUsedFrom: null,
    expiresAt: null,
    revokedAt: null,
    ...over,
  };
}
