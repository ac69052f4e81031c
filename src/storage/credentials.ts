import type { CompiledQuery, Expression, SqlBool } from 'kysely';
import type { Role, Scope } from '#contract/token.ts';
import { credentialActor } from '#core/access.ts';
import type { CredentialRecord, Credentials } from '#core/directory.ts';
import { AppError, notFound } from '#core/errors.ts';
import type { TenantId } from '#core/ports.ts';
import type { RateSetting } from '#core/tenants.ts';
import { difference } from './audit.ts';
import { change, compareAndSet, insertWhen, pick, precondition } from './change.ts';
import { isCreatorAuthorized, revokeCreatedKeys } from './creator-rights.ts';
import { withdrawnOf } from './invitations-withdrawn.ts';
import type { Builder, CredentialRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

type Kind = CredentialRecord['kind'];
type Patch = Parameters<Credentials['update']>[3];

export function createCredentials(db: Builder, executor: SqlExecutor): Credentials {
  const one = (tenant: TenantId, kind: Kind, id: string) =>
    db
      .selectFrom('credentials')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('kind', '=', kind)
      .where('id', '=', id);

  return {
    async add(record, creator) {
      const { tenant, kind, id, createdBy, createdAt } = record;
      const { done } = await change(db, executor, {
        entry: {
          tenant,
          by: createdBy,
          at: createdAt,
          action: `${kind}.create`,
          subject: id,
          detail: describe(record),
        },
        when: isCreatorAuthorized(creator, createdAt),
        effects: (guard) => [
          insertWhen(db, 'credentials', { ...toRow(record), maker: creator?.id ?? null }, guard),
        ],
        after: one(tenant, kind, id).compile(),
      });
      if (!done) throw creator ? new AppError('forbidden', 'forbidden') : notFound('tenant');
    },

    async find(id) {
      const [row] = await executor.read(
        db.selectFrom('credentials').selectAll().where('id', '=', id).compile(),
      );
      return row && toCredential(row);
    },

    async list(tenant, kind) {
      const rows = await executor.read(
        db
          .selectFrom('credentials')
          .selectAll()
          .where('tenant', '=', tenant)
          .where('kind', '=', kind)
          .orderBy('created_at')
          .orderBy('id')
          .compile(),
        tenant,
      );
      return rows.map(toCredential);
    },

    async update(tenant, kind, id, patch, by, at) {
      const read = one(tenant, kind, id).compile();
      const updated = await compareAndSet(db, executor, read, (row) => {
        const detail = difference(legible(toCredential(row)), legible(patch));
        const columns = toColumns(patch);
        return (
          detail && {
            entry: { tenant, by, at, action: `${kind}.update`, subject: id, detail },
            when: precondition('credentials', { tenant, id, kind, ...pick(row, columns) }),
            effects: (guard) => [set(db, row, columns, guard)],
            after: read,
          }
        );
      });
      return updated && toCredential(updated.row ?? updated.before);
    },

    async revoke(tenant, kind, id, by, at) {
      const read = one(tenant, kind, id).compile();
      const revoked = await compareAndSet(db, executor, read, (row) =>
        row.revoked_at !== null
          ? undefined
          : {
              entry: {
                tenant,
                by,
                at,
                action: `${kind}.revoke`,
                subject: id,
                detail: describe(toCredential(row)),
              },
              when: precondition('credentials', { tenant, id, kind, revoked_at: null }),
              effects: (guard) => [
                set(db, row, { revoked_at: at }, guard),
                // Two keys may have one name: better an invitation too few than one of a key that was stolen.
                ...withdrawnOf(db, { tenant, by: credentialActor(row), at, keeps: [] }, guard),
                ...revokeCreatedKeys(db, { tenant, creator: id, at, keeps: [] }, guard),
              ],
              after: read,
            },
      );
      return revoked && toCredential(revoked.row ?? revoked.before);
    },

    async touch(uses) {
      if (uses.length === 0) return;
      await executor.write(
        uses.map(({ tenant, id, at, from }) =>
          db
            .updateTable('credentials')
            .set({ last_used_at: at, last_used_from: from })
            .where('tenant', '=', tenant)
            .where('id', '=', id)
            .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', at)]))
            .compile(),
        ),
      );
    },
  };
}

function set(
  db: Builder,
  { tenant, id }: Pick<CredentialRow, 'tenant' | 'id'>,
  columns: Partial<CredentialRow>,
  when: Expression<SqlBool>,
): CompiledQuery {
  return db
    .updateTable('credentials')
    .set(columns)
    .where('tenant', '=', tenant)
    .where('id', '=', id)
    .where(when)
    .compile();
}

/** For the audit log: all but what could open a door. */
function describe(record: CredentialRecord): Record<string, unknown> {
  const { kind, name, scopes, role, rate, panelId, allowFrom } = record;
  const { expiresAt } = legible(record);
  return kind === 'key'
    ? { name, role, allowFrom, expiresAt }
    : { name, scopes, rate, panelId, allowFrom, expiresAt };
}

/** What of a credential can change, with its time as people read it. */
function legible({ name, scopes, rate, allowFrom, expiresAt }: Patch): Record<string, unknown> {
  const expiry = expiresAt == null ? expiresAt : new Date(expiresAt).toISOString();
  return { name, scopes, rate, allowFrom, expiresAt: expiry };
}

function toColumns(patch: Patch): Partial<CredentialRow> {
  const columns: Partial<CredentialRow> = {};
  if (patch.name !== undefined) columns.name = patch.name;
  if (patch.scopes !== undefined) columns.scopes = JSON.stringify(patch.scopes);
  if (patch.rate !== undefined) columns.rate = patch.rate === null ? null : JSON.stringify(patch.rate);
  if (patch.expiresAt !== undefined) columns.expires_at = patch.expiresAt;
  if (patch.allowFrom !== undefined) columns.allow_from = JSON.stringify(patch.allowFrom);
  return columns;
}

function toRow(record: CredentialRecord): Omit<CredentialRow, 'maker'> {
  return {
    tenant: record.tenant,
    id: record.id,
    kind: record.kind,
    name: record.name,
    hash: record.hash,
    scopes: JSON.stringify(record.scopes),
    role: record.role,
    rate: record.rate === null ? null : JSON.stringify(record.rate),
    panel_id: record.panelId,
    allow_from: JSON.stringify(record.allowFrom),
    created_at: record.createdAt,
    created_by: record.createdBy,
    last_used_at: record.lastUsedAt,
    last_used_from: record.lastUsedFrom,
    expires_at: record.expiresAt,
    revoked_at: record.revokedAt,
  };
}

function toCredential(row: CredentialRow): CredentialRecord {
  return {
    tenant: row.tenant,
    id: row.id,
    kind: row.kind,
    name: row.name,
    hash: row.hash,
    scopes: JSON.parse(row.scopes) as Scope[],
    rate: row.rate === null ? null : (JSON.parse(row.rate) as RateSetting),
    panelId: row.panel_id,
    role: row.role as Role | null,
    allowFrom: JSON.parse(row.allow_from) as string[],
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastUsedAt: row.last_used_at,
    lastUsedFrom: row.last_used_from,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
  };
}
