/**
 * Alarms that are off the panels while another one stands. Which may suppress which is in their routes (`SuppressKeys`): live rows
 * have the keys that they follow, and the table `alarm_causes` has those of causes. A new notification is suppressed when it is
 * stored; `updateSuppression` does what time and other notifications change later.
 */
import { belfryAsActor, type Entry, type SuppressedAlarms } from '#core/log/log.ts';
import type { SuppressingRule, TenantId } from '#core/log/route.ts';
import type { SuppressedRow } from '../../log/history-rows.ts';
import { returnToPanels, suppress } from './alarms.ts';
import { queueReturned } from './deliveries.ts';
import { type FoundRow, findById, idAt } from './log-lookup.ts';
import type { LogWriter } from './log-writer.ts';
import type { Statements } from './partitions.ts';
import type { LogConnection } from './rows.ts';

/** An alarm by which another one is suppressed. */
export interface Cause {
  readonly key: string;
  /** Of its notification that stands. */
  readonly id: string;
}

const standing = '(l.expires_at IS NULL OR l.expires_at > @now)';

/** The live notifications, other than `@row`, that are causes by the key in `up`. */
const causesOfKey = `alarm_causes c CROSS JOIN live l ON l.row = c.row WHERE c.tenant = @tenant AND c.key = up.key AND l.row IS NOT @row AND ${standing}`;

/**
 * The cause by one of these keys for an alarm, other than itself (`row`). A cause may be suppressed itself: then one of its causes
 * must be on the panels, from cause to cause, without passing by this alarm.
 */
export function findCause(
  sql: Statements,
  tenant: TenantId,
  {
    keys,
    now,
    row = null,
  }: { readonly keys: readonly string[]; readonly now: number; readonly row?: number | null },
): Cause | undefined {
  const given = { tenant, now, row };
  for (const key of keys) {
    const held = sql
      .of<[object], { held: 1 }>(
        `WITH RECURSIVE up (key) AS (VALUES (@key) UNION SELECT l.suppressed FROM up CROSS JOIN ${causesOfKey} AND l.suppressed IS NOT NULL)
         SELECT 1 AS held FROM up WHERE EXISTS (SELECT 1 FROM ${causesOfKey} AND l.suppressed IS NULL) LIMIT 1`,
      )
      .get({ ...given, key });
    const found =
      held &&
      sql
        .of<[object], { row: number }>(
          `WITH up (key) AS (VALUES (@key))
           SELECT l.row FROM up CROSS JOIN ${causesOfKey} ORDER BY l.suppressed IS NULL DESC, l.row DESC LIMIT 1`,
        )
        .get({ ...given, key });
    if (found) return { key, id: idAt(sql, found.row) };
  }
  return undefined;
}

interface UsedKey {
  readonly tenant: TenantId;
  readonly key: string;
}

/** The keys by which alarms are suppressed although no cause by them, nor a cause of those, is on the panels. */
function endedKeys(sql: Statements, now: number): UsedKey[] {
  return sql
    .of<[object], UsedKey>(
      `SELECT DISTINCT l.tenant, l.suppressed AS key FROM live l INDEXED BY live_suppressed
       WHERE l.suppressed IS NOT NULL AND ${standing}`,
    )
    .all({ now })
    .filter(({ tenant, key }) => findCause(sql, tenant, { keys: [key], now }) === undefined);
}

/** Whether `updateSuppression` would change anything. */
export function isSuppressionDue({ sql }: Pick<LogConnection, 'sql'>, now: number): boolean {
  const [found] = sql
    .of<[], UsedKey>(
      'SELECT tenant, key FROM alarm_causes INDEXED BY alarm_causes_new WHERE is_new = 1 LIMIT 1',
    )
    .all();
  return found !== undefined || endedKeys(sql, now).length > 0;
}

/** How long one call looks for alarms that stood before their cause: other writes wait. */
const scanMs = 20;

interface SuppressedLive {
  readonly tenant: TenantId;
  readonly row: number;
  readonly follows: string | null;
}

/** As `History.updateSuppression`. */
export function updateSuppression(
  writer: LogWriter,
  now: number,
  limit: number,
): ReadonlyMap<TenantId, readonly Entry[]> {
  const { sql } = writer;
  sql
    .of(
      `DELETE FROM alarm_causes AS c WHERE NOT EXISTS (
         SELECT 1 FROM live l WHERE l.row = c.row AND l.tenant = c.tenant AND ${standing})`,
    )
    .run({ now });
  const changed: { tenant: TenantId; entry?: Entry | undefined }[] = [];
  for (const ended of endedKeys(sql, now))
    for (const each of suppressedBy(sql, ended, { now, limit: limit - changed.length }))
      changed.push({ tenant: each.tenant, entry: release(writer, each, now) });
  const scanned: { tenant: TenantId; entry?: undefined }[] = [];
  const until = performance.now() + scanMs;
  for (const cause of newCauses(sql)) {
    if (changed.length >= limit) break;
    changed.push(...suppressByCause(writer, cause, { now, limit }));
    // Without an entry it is no change, but there may be more to do.
    scanned.push({ tenant: cause.tenant });
    // On a busy machine the time may be over before the first one.
    if (performance.now() > until) break;
  }
  return new Map(
    [...Map.groupBy([...changed, ...scanned], ({ tenant }) => tenant)].map(([tenant, some]) => [
      tenant,
      some.flatMap(({ entry }) => entry ?? []),
    ]),
  );
}

const suppressedBy = (
  sql: Statements,
  { tenant, key }: UsedKey,
  { now, limit }: { readonly now: number; readonly limit: number },
): SuppressedLive[] =>
  sql
    .of<[object], SuppressedLive>(
      `SELECT l.tenant, l.row, l.follows FROM live l INDEXED BY live_suppressed
       WHERE l.tenant = @tenant AND l.suppressed = @key AND ${standing} ORDER BY l.row LIMIT @limit`,
    )
    .all({ tenant, key, now, limit: Math.max(0, limit) });

/** Its cause has ended: another one takes its place, or it is on the panels again. */
function release(
  writer: LogWriter,
  { tenant, row, follows }: SuppressedLive,
  now: number,
): Entry | undefined {
  const { sql } = writer;
  const cause = findCause(sql, tenant, { keys: JSON.parse(follows ?? '[]') as string[], now, row });
  if (cause) {
    sql
      .of('UPDATE live SET suppressed = ?, shelved = ? WHERE row = ?')
      .run(cause.key, JSON.stringify({ at: now, by: cause.id } satisfies SuppressedRow), row);
    return undefined;
  }
  const of = foundAt(sql, tenant, row);
  const given = { id: of.id, at: now, by: belfryAsActor, from: 'suppressed' } as const;
  const returned = returnToPanels(writer, tenant, of, given);
  queueReturned(sql, tenant, returned.shown, now);
  return returned;
}

interface CauseRow {
  readonly tenant: TenantId;
  readonly key: string;
  readonly row: number;
}

/**
 * One of each tenant, then a second one of each, and so on: the many of one tenant hold up no other. There may be no time for all
 * tenants, so each call takes them in another order.
 */
const newCauses = (sql: Statements): CauseRow[] =>
  sql
    .of<[], CauseRow>(
      `SELECT tenant, key, row FROM alarm_causes INDEXED BY alarm_causes_new WHERE is_new = 1
       ORDER BY row_number() OVER (PARTITION BY tenant), random() LIMIT 100`,
    )
    .all();

/** Suppresses the open alarms that stood before the cause. Those that somebody has acknowledged stay where they are. */
function suppressByCause(
  writer: LogWriter,
  { tenant, key, row: cause }: CauseRow,
  { now, limit }: { readonly now: number; readonly limit: number },
): { tenant: TenantId; entry: Entry }[] {
  const { sql } = writer;
  const rows = sql
    .of<[object], { row: number }>(
      `SELECT l.row FROM live l INDEXED BY live_follows
       WHERE l.tenant = @tenant AND l.follows IS NOT NULL AND l.suppressed IS NULL AND l.shelved IS NULL AND l.row <> @cause AND ${standing}
         AND EXISTS (SELECT 1 FROM json_each(l.follows) WHERE value = @key)
         AND NOT EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = l.tenant AND a.row = l.row)
       ORDER BY l.row LIMIT @limit`,
    )
    .all({ tenant, key, cause, now, limit });
  const changed = rows.flatMap(({ row }) => {
    const found = findCause(sql, tenant, { keys: [key], now, row });
    if (!found) return [];
    const of = foundAt(sql, tenant, row);
    const given = { id: of.id, at: now, by: found.id, key };
    return [{ tenant, entry: suppress(writer, tenant, of, given) }];
  });
  // What is left could only be suppressed by itself.
  if (rows.length < limit || changed.length === 0)
    sql
      .of('UPDATE alarm_causes SET is_new = 0 WHERE tenant = ? AND key = ? AND row = ?')
      .run(tenant, key, cause);
  return changed;
}

function foundAt(sql: Statements, tenant: TenantId, row: number): FoundRow & { readonly id: string } {
  const id = idAt(sql, row);
  const found = findById(sql, tenant, id);
  if (!found) throw new Error(`row ${row} of the log is missing`);
  return { ...found, id };
}

/** As the methods of `History`. */

export function suppression(
  { sql }: Pick<LogConnection, 'sql'>,
  tenant: TenantId,
  now: number,
): SuppressedAlarms {
  const causes = sql
    .of<[object], SuppressedAlarms['causes'][number]>(
      `SELECT l.position, c.key FROM alarm_causes c CROSS JOIN live l ON l.row = c.row WHERE c.tenant = @tenant AND ${standing}`,
    )
    .all({ tenant, now });
  if (causes.length === 0) return { causes, suppressed: [] };
  const suppressed = sql
    .of<[object], SuppressedAlarms['suppressed'][number]>(
      `SELECT l.position, l.rank, l.suppressed AS key FROM live l INDEXED BY live_suppressed
       WHERE l.tenant = @tenant AND l.suppressed IS NOT NULL AND ${standing}`,
    )
    .all({ tenant, now });
  return { causes, suppressed };
}

export const suppressingRules = ({ sql }: Pick<LogConnection, 'sql'>) =>
  sql
    .of<[], SuppressingRule>(
      'SELECT tenant, rule, max(revision) AS revision FROM alarm_causes GROUP BY tenant, rule',
    )
    .all();

/** Returns how many keys are gone. */
export const endSuppressing = (
  { sql }: LogWriter,
  tenant: TenantId,
  rule: string,
  revision: number,
): number =>
  sql
    .of('DELETE FROM alarm_causes WHERE tenant = ? AND rule = ? AND revision <= ?')
    .run(tenant, rule, revision).changes;

export const causeOf = (
  { sql }: Pick<LogConnection, 'sql'>,
  tenant: TenantId,
  keys: readonly string[],
  { now, except }: { readonly now: number; readonly except: string | undefined },
): string | undefined => {
  const own = except === undefined ? undefined : findById(sql, tenant, except);
  return findCause(sql, tenant, { keys, now, row: own?.row ?? null })?.id;
};
