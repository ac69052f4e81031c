import { type Expression, type SqlBool, sql } from 'kysely';
import { limits } from '../contract/limits.ts';
import type { RuleSpec } from '../contract/rule.ts';
import type { RuleRecord, Rules } from '../core/directory.ts';
import { AppError } from '../core/errors.ts';
import type { TenantId } from '../core/ports.ts';
import { change, insertWhen } from './change.ts';
import { reorder } from './rule-order.ts';
import { bumpRevision, currentRevision, endVersion } from './rule-versions.ts';
import type { Builder, RuleRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

interface CountedRule extends RuleRow {
  hits: number | null;
  last_hit_at: number | null;
}

/** Rules by version: a change ends the version in force and brings a new one, so that any earlier set can be told again. */
export function createRules(db: Builder, executor: SqlExecutor): Rules {
  const inForce = (tenant: TenantId) =>
    db
      .selectFrom('rules')
      .leftJoin('rule_hits', (join) =>
        join.onRef('rule_hits.tenant', '=', 'rules.tenant').onRef('rule_hits.id', '=', 'rules.id'),
      )
      .selectAll('rules')
      .select(['rule_hits.hits', 'rule_hits.last_hit_at'])
      .where('rules.tenant', '=', tenant)
      .where('rules.until', 'is', null);
  const one = (tenant: TenantId, id: string) => inForce(tenant).where('rules.id', '=', id).compile();

  return {
    async list(tenant) {
      return (await executor.read(inForce(tenant).orderBy('rules.ordinal').compile())).map(toRecord);
    },

    set: (tenant, revision) => readSet(db, executor, tenant, revision),

    async create(tenant, spec, by, at) {
      const version = {
        since: currentRevision(tenant),
        until: null,
        ordinal: nextOrdinal(tenant),
        spec: toJson(spec),
      };
      const { row } = await change(db, executor, {
        entry: { tenant, by, at, action: 'rule.create', subject: spec.id, detail: withoutId(spec) },
        when: sql<SqlBool>`(select count(*) from rules where tenant = ${tenant} and until is null) < ${limits.rulesPerTenant}`,
        effects: (agreed) => [
          bumpRevision(db, tenant, agreed),
          insertWhen(
            db,
            'rules',
            { tenant, id: spec.id, ...version, created_at: at, updated_at: at },
            agreed,
          ),
        ],
        after: one(tenant, spec.id),
      });
      if (!row)
        throw new AppError('conflict', `there are ${limits.rulesPerTenant} rules already: delete some first`);
      return toRecord(row);
    },

    async update(tenant, spec, by, at) {
      const { row } = await change(db, executor, {
        entry: { tenant, by, at, action: 'rule.update', subject: spec.id, detail: withoutId(spec) },
        when: isInForce(tenant, spec.id),
        effects: (agreed) => [
          bumpRevision(db, tenant, agreed),
          endVersion(db, tenant, [spec.id], agreed),
          sql`insert into rules (tenant, id, since, until, ordinal, spec, created_at, updated_at)
            select tenant, id, ${currentRevision(tenant)}, null, ordinal, ${toJson(spec)}, created_at, ${at}
            from rules where tenant = ${tenant} and id = ${spec.id} and until = ${currentRevision(tenant)} and ${agreed}`.compile(
            db,
          ),
        ],
        after: one(tenant, spec.id),
      });
      return row && toRecord(row);
    },

    async remove(tenant, id, by, at) {
      const [known] = await executor.read(one(tenant, id));
      if (!known) return false;
      const { done } = await change(db, executor, {
        entry: { tenant, by, at, action: 'rule.delete', subject: id, detail: { name: toRecord(known).name } },
        when: isInForce(tenant, id),
        effects: (agreed) => [
          bumpRevision(db, tenant, agreed),
          endVersion(db, tenant, [id], agreed),
          db
            .deleteFrom('rule_hits')
            .where('tenant', '=', tenant)
            .where('id', '=', id)
            .where(agreed)
            .compile(),
        ],
        after: one(tenant, id),
      });
      return done;
    },

    order: (tenant, ids, by, at) => reorder(db, executor, { tenant, ids, by, at }),

    async hit(tenant, hits) {
      if (hits.length === 0) return;
      await executor.write(
        hits.map(({ id, count, at }) =>
          sql`insert into rule_hits (tenant, id, hits, last_hit_at) select ${tenant}, ${id}, ${count}, ${at}
            where ${isInForce(tenant, id)}
            on conflict (tenant, id) do update set hits = rule_hits.hits + excluded.hits, last_hit_at =
            case when excluded.last_hit_at > rule_hits.last_hit_at then excluded.last_hit_at else rule_hits.last_hit_at end`.compile(
            db,
          ),
        ),
      );
    },
  };
}

/** One query, so that the revision and the rules are of the same moment. */
async function readSet(db: Builder, executor: SqlExecutor, tenant: TenantId, revision: number | undefined) {
  const rows = await executor.read(
    db
      .selectFrom('tenants')
      .leftJoin('rules', (join) =>
        join
          .onRef('rules.tenant', '=', 'tenants.id')
          .on((eb) =>
            revision === undefined
              ? eb('rules.until', 'is', null)
              : eb.and([
                  eb('rules.since', '<=', revision),
                  eb.or([eb('rules.until', 'is', null), eb('rules.until', '>', revision)]),
                ]),
          ),
      )
      .select(['tenants.rules_revision', 'rules.id', 'rules.spec'])
      .where('tenants.id', '=', tenant)
      .orderBy('rules.ordinal')
      .compile(),
  );
  const current = rows[0]?.rules_revision ?? 0;
  return {
    revision: Math.min(revision ?? current, current),
    rules: rows.flatMap(({ id, spec }) => (id === null || spec === null ? [] : [toSpec(id, spec)])),
  };
}

function isInForce(tenant: TenantId, id: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from rules
    where rules.tenant = ${tenant} and rules.id = ${id} and rules.until is null)`;
}

/** Judged in the insert itself: two rules made at once stand one after the other. */
function nextOrdinal(tenant: TenantId): Expression<number> {
  return sql<number>`(select coalesce(max(ordinal), 0) + 1 from rules where tenant = ${tenant} and until is null)`;
}

function withoutId({ id: _, ...rest }: RuleSpec) {
  return rest;
}

function toJson(spec: RuleSpec): string {
  return JSON.stringify(withoutId(spec));
}

function toSpec(id: string, spec: string): RuleSpec {
  return { id, ...(JSON.parse(spec) as Omit<RuleSpec, 'id'>) };
}

function toRecord({ id, spec, hits, last_hit_at, created_at, updated_at }: CountedRule): RuleRecord {
  return {
    ...toSpec(id, spec),
    hits: hits ?? 0,
    lastHitAt: last_hit_at === null ? null : new Date(last_hit_at).toISOString(),
    createdAt: new Date(created_at).toISOString(),
    updatedAt: new Date(updated_at).toISOString(),
  };
}
