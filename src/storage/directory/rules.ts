import { type Expression, type SqlBool, sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { RuleSpec } from '#contract/routing/rule.ts';
import { levelsOf } from '#contract/routing/rule-names.ts';
import { conflict } from '#core/errors.ts';
import type { Ref, TenantId } from '#core/log/route.ts';
import type { RuleRecord, Rules } from '#core/tenants/directory.ts';
import { iso, isoOrNull } from '#core/time/time.ts';
import type { Database, RuleRow } from '../database/sql.ts';
import { difference } from './audit.ts';
import { always, change, compareAndSet, deleteWhen, insertWhen, precondition } from './change.ts';
import {
  bumpRevision,
  currentRevision,
  endVersion,
  type Move,
  moveRules,
  nextOrdinal,
  onOrder,
  placesFor,
  reorder,
} from './rule-order.ts';

interface CountedRule extends RuleRow {
  hits: number | null;
  last_hit_at: number | null;
}

/** Versioned rules. A change ends the current version and inserts a new one, so that earlier rule sets can be read. */
export function createRules(db: Database): Rules {
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
  const earlier = new EarlierVersions(db);
  const one = (tenant: TenantId, id: string) => inForce(tenant).where('rules.id', '=', id);
  const holds = async (condition: Expression<SqlBool>) =>
    (await db.read(sql`select 1 as yes where ${condition}`)).length > 0;

  return {
    async list(tenant) {
      return (await db.read(inForce(tenant).orderBy('rules.ordinal'), tenant)).map(toRecord);
    },

    async formerNames(tenant) {
      const ended = db
        .selectFrom('rules')
        .select(['id', 'spec'])
        .distinct()
        .where('tenant', '=', tenant)
        .where('until', 'is not', null);
      const names = new Map<string, Ref>();
      for (const row of await db.read(ended)) {
        const { id, name } = toSpec(row);
        names.set(`${id} ${name}`, { id, name });
      }
      return [...names.values()];
    },

    async set(tenant) {
      const { current, texts } = await readSet(db, tenant);
      return { revision: current, rules: parsed.read(tenant, texts) };
    },

    async setAt(tenant, revision) {
      const { current, from, texts } = await readSet(db, tenant, revision);
      if (revision < from) return undefined;
      return { revision: Math.min(revision, current), rules: texts.map(toSpec) };
    },

    async create(tenant, spec, by, at, position) {
      /** At its place, with those that move for it; without places at the end. */
      const insert = (places: readonly Move[], unchanged: Expression<SqlBool>) => {
        const own = places.find(({ id }) => id === spec.id);
        const others = places.filter((each) => each !== own);
        return change(db, {
          entry: { tenant, by, at, action: 'rule.create', subject: spec.id, detail: withoutId(spec) },
          when: sql<SqlBool>`${unchanged} and ${hasRoom(tenant)} and ${fits(tenant, spec)}
            and ${hasSchedule(tenant, spec)} and ${hasLevels(tenant, spec)}`,
          effects: (guard) => [
            bumpRevision(tenant, guard),
            ...moveRules(tenant, others, guard),
            insertWhen(
              'rules',
              { ...newVersion(tenant, spec, at), ordinal: own?.ordinal ?? nextOrdinal(tenant) },
              guard,
            ),
          ],
          after: one(tenant, spec.id),
        });
      };
      const made =
        position === undefined
          ? await insert([], always)
          : await onOrder(db, tenant, async ({ revision, rules }) => {
              const order = rules.map(({ id }) => id).toSpliced(position - 1, 0, spec.id);
              const same = sql<SqlBool>`${currentRevision(tenant)} = ${revision}`;
              const made = await insert(placesFor(order, rules), same);
              return made.row || (await holds(same)) ? made : undefined;
            });
      if (!made.row) {
        if (!(await holds(hasSchedule(tenant, spec)))) throw gone('on-call schedule');
        throw (await holds(hasLevels(tenant, spec))) ? full() : gone('level');
      }
      // A position may have moved any number of rules.
      if (position !== undefined) await earlier.added(tenant, sizeCheckBytes);
      return toRecord(made.row);
    },

    async update(tenant, spec, by, at, revision) {
      const updated = await compareAndSet(db, one(tenant, spec.id), (row) => {
        const detail = difference(toSpec(row), spec);
        const unchanged = precondition('rules', { tenant, id: spec.id, since: row.since, until: null });
        if (!detail) return undefined;
        return {
          entry: {
            tenant,
            by,
            at,
            action: 'rule.update',
            subject: spec.id,
            detail: { name: toSpec(row).name, ...detail },
          },
          when: sql<SqlBool>`${unchanged} and ${isInForce(tenant, spec.id, revision)} and ${fits(tenant, spec, row.spec)}
            and ${hasSchedule(tenant, spec, toSpec(row))} and ${hasLevels(tenant, spec, toSpec(row))}`,
          effects: (guard) => [
            bumpRevision(tenant, guard),
            endVersion(tenant, [spec.id], guard),
            sql`insert into rules (tenant, id, since, until, ordinal, spec, created_at, updated_at)
                select tenant, id, ${currentRevision(tenant)}, null, ordinal, ${toJson(spec)}, created_at, ${at}
                from rules where tenant = ${tenant} and id = ${spec.id} and until = ${currentRevision(tenant)} and ${guard}`,
          ],
          after: one(tenant, spec.id),
        };
      });
      if (!updated) return undefined;
      if (updated.done && updated.row) {
        await earlier.added(tenant, Buffer.byteLength(updated.before.spec));
        return toRecord(updated.row);
      }
      if (updated.row && !(await holds(fits(tenant, spec, updated.before.spec)))) throw full();
      // No row was read after the change: the patch changed nothing, so the rule is returned as it is.
      return updated.row ? undefined : toRecord(updated.before);
    },

    async remove(tenant, id, by, at) {
      const removed = await compareAndSet(db, one(tenant, id), (row) => ({
        entry: { tenant, by, at, action: 'rule.delete', subject: id, detail: withoutId(toSpec(row)) },
        when: precondition('rules', { tenant, id, since: row.since, until: null }),
        effects: (guard) => [
          bumpRevision(tenant, guard),
          endVersion(tenant, [id], guard),
          deleteWhen('rule_hits', { tenant, id }, guard),
        ],
      }));
      if (removed?.done) await earlier.added(tenant, Buffer.byteLength(removed.before.spec));
      return removed?.done ?? false;
    },

    async order(tenant, ids, by, at) {
      const done = await reorder(db, { tenant, ids, by, at });
      if (done) await earlier.added(tenant, sizeCheckBytes);
      return done;
    },

    prune: (tenant, revision) => earlier.prune(tenant, revision),

    async hit(tenant, hits) {
      if (hits.length === 0) return;
      await db.write(
        hits.map(
          ({ id, count, at }) =>
            sql`insert into rule_hits (tenant, id, hits, last_hit_at) select ${tenant}, ${id}, ${count}, ${at}
            where ${isInForce(tenant, id)}
            on conflict (tenant, id) do update set hits = rule_hits.hits + excluded.hits, last_hit_at =
            case when excluded.last_hit_at > rule_hits.last_hit_at then excluded.last_hit_at else rule_hits.last_hit_at end`,
        ),
        tenant,
      );
    },
  };
}

/** Reads the rules in force, or those at `revision`, and which revisions can be read, in one query, so that they are consistent. */
async function readSet(db: Database, tenant: TenantId, revision?: number) {
  const rows = await db.read(
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
      .select(['tenants.rules_revision', 'tenants.rules_from', 'rules.id', 'rules.spec'])
      .where('tenants.id', '=', tenant)
      .orderBy('rules.ordinal'),
  );
  return {
    current: rows[0]?.rules_revision ?? 0,
    from: rows[0]?.rules_from ?? 0,
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

/** SQL: the rules stay within the limit of their size together. A change that makes its rule no larger is always possible. */
function fits(tenant: TenantId, spec: RuleSpec, before = ''): Expression<SqlBool> {
  const growth = Buffer.byteLength(toJson(spec)) - Buffer.byteLength(before);
  if (growth <= 0) return always;
  return sql<SqlBool>`(select coalesce(sum(octet_length(spec)), 0) from rules
    where tenant = ${tenant} and until is null) <= ${limits.rulesBytesPerTenant - growth}`;
}

/** SQL: the on-call schedule that the rule names exists, unless the rule before the change named it, too. */
function hasSchedule(
  tenant: TenantId,
  { then: { onCall } }: RuleSpec,
  before?: RuleSpec,
): Expression<SqlBool> {
  if (onCall === undefined || onCall === before?.then.onCall) return always;
  return precondition('on_call', { tenant, id: onCall });
}

/** SQL: the levels that the rule names exist, except for those that the rule before the change named, too. */
function hasLevels(tenant: TenantId, spec: RuleSpec, before?: RuleSpec): Expression<SqlBool> {
  const known = new Set(before && levelsOf(before));
  const names = [...new Set(levelsOf(spec))].filter((name) => !known.has(name));
  if (names.length === 0) return always;
  return sql<SqlBool>`(select count(*) from levels where tenant = ${tenant} and name in (${sql.join(names)}))
    = ${names.length}`;
}

const gone = (what: string) => conflict(`the ${what} that the rule names is deleted: name another one`);

const full = () =>
  conflict(
    `there is no room for it: a tenant has at most ${limits.rulesPerTenant} rules of ${limits.rulesBytesPerTenant / 1024 / 1024} MiB together; delete some, or make them smaller`,
  );

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
    lastHitAt: isoOrNull(last_hit_at),
    createdAt: iso(created_at),
    updatedAt: iso(updated_at),
  };
}

/** How many versions one transaction deletes; small, so that intake does not wait. */
const pruneBatch = 500;
/** The size of earlier versions is computed again after so much growth. */
export const sizeCheckBytes = 1024 * 1024;

/** The versions that are no longer in force. They are stored to explain earlier notifications, up to a size for each tenant. */
export class EarlierVersions {
  readonly #db: Database;
  /** How much was added since the size was last computed. */
  readonly #added = new Map<TenantId, number>();

  constructor(db: Database) {
    this.#db = db;
  }

  /**
   * Must be called after a change that ended versions of this size. Deletes the oldest versions that are too much. Never throws, because
   * the change is stored already: after a failure, the next change tries again.
   */
  async added(tenant: TenantId, bytes: number): Promise<void> {
    const added = (this.#added.get(tenant) ?? sizeCheckBytes) + bytes;
    const isDue = added >= sizeCheckBytes;
    this.#added.set(tenant, isDue ? 0 : added);
    if (isDue) await this.#bound(tenant).catch(() => this.#added.set(tenant, sizeCheckBytes));
  }

  async #bound(tenant: TenantId): Promise<void> {
    const [oldest] = await this.#db.read(
      sql<{ revision: number | null }>`select max(until) as revision from (
        select until, sum(octet_length(spec)) over (order by until desc) as bytes
        from rules where tenant = ${tenant} and until is not null) as earlier
        where bytes > ${limits.earlierRulesBytesPerTenant}`,
      tenant,
    );
    if (oldest?.revision != null) await this.prune(tenant, oldest.revision);
  }

  async prune(tenant: TenantId, revision: number): Promise<void> {
    await this.#db.write(
      [sql`update tenants set rules_from = ${revision} where id = ${tenant} and rules_from < ${revision}`],
      tenant,
    );
    for (let dropped = pruneBatch; dropped === pruneBatch; ) {
      const [result] = await this.#db.write(
        [
          sql`delete from rules where (tenant, id, since) in (select tenant, id, since from rules
            where tenant = ${tenant} and until <= ${revision} limit ${pruneBatch})`,
        ],
        tenant,
      );
      dropped = result?.changes ?? 0;
    }
  }
}
