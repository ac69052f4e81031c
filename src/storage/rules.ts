import { type Expression, type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { RuleSpec } from '#contract/rule.ts';
import type { RuleRecord, Rules } from '#core/directory.ts';
import { AppError } from '#core/errors.ts';
import type { Ref, TenantId } from '#core/ports.ts';
import { difference } from './audit.ts';
import { always, change, compareAndSet, insertWhen, precondition } from './change.ts';
import { moveRules, onOrder, type Room, reorder, roomAt } from './rule-order.ts';
import { bumpRevision, currentRevision, endVersion } from './rule-versions.ts';
import type { Builder, RuleRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

interface CountedRule extends RuleRow {
  hits: number | null;
  last_hit_at: number | null;
}

/** How many versions one transaction deletes; small, so that intake does not wait. */
const pruneBatch = 500;

/** Versioned rules. A change ends the current version and inserts a new one, so that earlier rule sets can be read. */
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
  const parsed = new ParsedRules();
  const one = (tenant: TenantId, id: string) => inForce(tenant).where('rules.id', '=', id).compile();

  return {
    async list(tenant) {
      return (await executor.read(inForce(tenant).orderBy('rules.ordinal').compile(), tenant)).map(toRecord);
    },

    async formerNames(tenant) {
      const ended = db
        .selectFrom('rules')
        .select(['id', 'spec'])
        .distinct()
        .where('tenant', '=', tenant)
        .where('until', 'is not', null);
      const names = new Map<string, Ref>();
      for (const row of await executor.read(ended.compile())) {
        const { id, name } = toSpec(row);
        names.set(`${id} ${name}`, { id, name });
      }
      return [...names.values()];
    },

    async set(tenant, revision) {
      const { revision: of, texts } = await readSet(db, executor, tenant, revision);
      return { revision: of, rules: revision === undefined ? parsed.read(tenant, texts) : texts.map(toSpec) };
    },

    async create(tenant, spec, by, at, position) {
      const insert = ({ ordinal, moves }: Room, unchanged: Expression<SqlBool>) =>
        change(db, executor, {
          entry: { tenant, by, at, action: 'rule.create', subject: spec.id, detail: withoutId(spec) },
          when: sql<SqlBool>`${unchanged} and ${hasRoom(tenant)}`,
          effects: (guard) => [
            bumpRevision(db, tenant, guard),
            ...moveRules(db, tenant, moves, guard),
            insertWhen(db, 'rules', { ...newVersion(tenant, spec, at), ordinal }, guard),
          ],
          after: one(tenant, spec.id),
        });
      const { row } =
        position === undefined
          ? await insert({ ordinal: nextOrdinal(tenant), moves: [] }, always)
          : await onOrder(db, executor, tenant, async ({ revision, rules }) => {
              const room = roomAt(Math.min(position - 1, rules.length), rules);
              const made = await insert(room, sql<SqlBool>`${currentRevision(tenant)} = ${revision}`);
              return made.done || rules.length >= limits.rulesPerTenant ? made : undefined;
            });
      if (!row)
        throw new AppError('conflict', `there are ${limits.rulesPerTenant} rules already: delete some first`);
      return toRecord(row);
    },

    async update(tenant, spec, by, at, revision) {
      const updated = await compareAndSet(db, executor, one(tenant, spec.id), (row) => {
        const detail = difference(toSpec(row), spec);
        const unchanged = precondition('rules', { tenant, id: spec.id, since: row.since, until: null });
        return (
          detail && {
            entry: { tenant, by, at, action: 'rule.update', subject: spec.id, detail },
            when: sql<SqlBool>`${unchanged} and ${isInForce(tenant, spec.id, revision)}`,
            effects: (guard) => [
              bumpRevision(db, tenant, guard),
              endVersion(db, tenant, [spec.id], guard),
              sql`insert into rules (tenant, id, since, until, ordinal, spec, created_at, updated_at)
                select tenant, id, ${currentRevision(tenant)}, null, ordinal, ${toJson(spec)}, created_at, ${at}
                from rules where tenant = ${tenant} and id = ${spec.id} and until = ${currentRevision(tenant)} and ${guard}`.compile(
                db,
              ),
            ],
            after: one(tenant, spec.id),
          }
        );
      });
      if (!updated) return undefined;
      if (updated.done && updated.row) return toRecord(updated.row);
      // No row was read after the change: the patch changed nothing, so the rule is returned as it is.
      return updated.row ? undefined : toRecord(updated.before);
    },

    async remove(tenant, id, by, at) {
      const removed = await compareAndSet(db, executor, one(tenant, id), (row) => ({
        entry: { tenant, by, at, action: 'rule.delete', subject: id, detail: withoutId(toSpec(row)) },
        when: precondition('rules', { tenant, id, since: row.since, until: null }),
        effects: (guard) => [
          bumpRevision(db, tenant, guard),
          endVersion(db, tenant, [id], guard),
          db.deleteFrom('rule_hits').where('tenant', '=', tenant).where('id', '=', id).where(guard).compile(),
        ],
        after: one(tenant, id),
      }));
      return removed?.done ?? false;
    },

    order: (tenant, ids, by, at) => reorder(db, executor, { tenant, ids, by, at }),

    async prune(tenant, revision) {
      for (let dropped = pruneBatch; dropped === pruneBatch; ) {
        const [result] = await executor.write(
          [
            sql`delete from rules where (tenant, id, since) in (select tenant, id, since from rules
            where tenant = ${tenant} and until <= ${revision} limit ${pruneBatch})`.compile(db),
          ],
          tenant,
        );
        dropped = result?.changes ?? 0;
      }
    },

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
        tenant,
      );
    },
  };
}

/** Reads the revision and its rules in one query, so that they are consistent. */
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
    texts: rows.flatMap(({ id, spec }) => (id === null || spec === null ? [] : [{ id, spec }])),
  };
}

/** SQL: the rule exists; with `revision`, also that it has not changed since that revision. */
function isInForce(tenant: TenantId, id: string, revision?: number): Expression<SqlBool> {
  const unchanged = revision === undefined ? always : sql<SqlBool>`rules.since <= ${revision}`;
  return sql<SqlBool>`exists (select 1 from rules
    where rules.tenant = ${tenant} and rules.id = ${id} and rules.until is null and ${unchanged})`;
}

/** SQL: the tenant has fewer rules than the limit. Evaluated inside the transaction, so that parallel creations cannot exceed it. */
function hasRoom(tenant: TenantId): Expression<SqlBool> {
  return sql<SqlBool>`(select count(*) from rules where tenant = ${tenant} and until is null) < ${limits.rulesPerTenant}`;
}

function newVersion(tenant: TenantId, spec: RuleSpec, at: number) {
  return {
    tenant,
    id: spec.id,
    since: currentRevision(tenant),
    until: null,
    spec: toJson(spec),
    created_at: at,
    updated_at: at,
  };
}

/** SQL: the ordinal after the last rule. Evaluated inside the insert, so that parallel creations get different ordinals. */
function nextOrdinal(tenant: TenantId): Expression<number> {
  return sql<number>`(select coalesce(max(ordinal), 0) + 1 from rules where tenant = ${tenant} and until is null)`;
}

function withoutId({ id: _, ...rest }: RuleSpec) {
  return rest;
}

function toJson(spec: RuleSpec): string {
  return JSON.stringify(withoutId(spec));
}

interface SpecText {
  readonly id: string;
  readonly spec: string;
}

function toSpec({ id, spec }: SpecText): RuleSpec {
  return { id, ...(JSON.parse(spec) as Omit<RuleSpec, 'id'>) };
}

/** Parses the current rules. An unchanged rule stays the same object, so that its compiled form can be reused. */
class ParsedRules {
  readonly #tenants = new Map<
    TenantId,
    ReadonlyMap<string, { readonly text: string; readonly spec: RuleSpec }>
  >();

  read(tenant: TenantId, texts: readonly SpecText[]): RuleSpec[] {
    const before = this.#tenants.get(tenant);
    const now = new Map(
      texts.map((row) => {
        const known = before?.get(row.id);
        return [row.id, known?.text === row.spec ? known : { text: row.spec, spec: toSpec(row) }];
      }),
    );
    this.#tenants.set(tenant, now);
    return [...now.values()].map(({ spec }) => spec);
  }
}

function toRecord({ id, spec, hits, last_hit_at, created_at, updated_at }: CountedRule): RuleRecord {
  return {
    ...toSpec({ id, spec }),
    hits: hits ?? 0,
    lastHitAt: last_hit_at === null ? null : new Date(last_hit_at).toISOString(),
    createdAt: new Date(created_at).toISOString(),
    updatedAt: new Date(updated_at).toISOString(),
  };
}
