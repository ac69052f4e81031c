/** Alarms that are off the panels while another one stands; the functions of the schema say how. */
import { belfryAsActor, type Entry, type History, type SuppressedAlarms } from '#core/log/log.ts';
import type { Route, SuppressingRule, TenantId } from '#core/log/route.ts';
import type { AlarmLanes } from './alarms.ts';
import { readNotifications } from './rows.ts';

/** What `settle_suppressed` answers. */
interface ChangedRow {
  readonly kind: 'return' | 'suppression';
  readonly of_id: string;
  readonly at_position: number;
  readonly of_route: Route;
  readonly cause_key: string;
  readonly cause_id: string;
}

/** With `l` from `live` and the parameter for now. */
const standing = (now: string) => `(l.expires_at IS NULL OR l.expires_at > ${now})`;
const causes = `alarm_causes c JOIN live l ON l.tenant = c.tenant AND l.rank = c.rank AND l.position = c.position AND ${standing('$1')}`;

export const createSuppression = (
  lanes: AlarmLanes,
): Pick<
  History,
  'updateSuppression' | 'suppressingRules' | 'endSuppressing' | 'suppression' | 'findCause'
> => ({
  async updateSuppression(now, limit) {
    // Each call takes the tenants in another order, so that one with much to do holds up no other. A tenant may have no entry, and
    // still more to do: its alarms only get another cause, or the time was over before all its causes.
    const due = await lanes.reads.query<{ tenant: TenantId }>(
      'all',
      `WITH used AS MATERIALIZED (SELECT DISTINCT l.tenant, l.suppressed FROM live l WHERE l.suppressed IS NOT NULL AND ${standing('$1')})
       SELECT tenant FROM (
         SELECT c.tenant FROM alarm_causes c WHERE c.is_new
         UNION
         SELECT u.tenant FROM used u WHERE NOT is_held(u.tenant, u.suppressed, $1, NULL)
       ) d ORDER BY random()`,
      [now],
    );
    const changed = new Map<TenantId, readonly Entry[]>();
    let left = limit;
    let failed: { readonly error: unknown } | undefined;
    for (const { tenant } of due) {
      if (left <= 0) break;
      try {
        const entries = await updateTenant(lanes, tenant, now, left);
        left -= entries.length;
        changed.set(tenant, entries);
      } catch (error) {
        // One whose counters are locked for too long has its turn the next time.
        failed ??= { error };
      }
    }
    if (failed && changed.size === 0) throw failed.error;
    return changed;
  },

  suppressingRules: () =>
    lanes.reads.query<SuppressingRule>(
      'all',
      'SELECT tenant, rule, max(revision) AS revision FROM alarm_causes GROUP BY tenant, rule',
      [],
    ),

  async endSuppressing(tenant, rule, revision) {
    await lanes.write(tenant, 0, (client) =>
      client.query('DELETE FROM alarm_causes WHERE tenant = $1 AND rule = $2 AND revision <= $3', [
        tenant,
        rule,
        revision,
      ]),
    );
  },

  async findCause(tenant, keys, now, except) {
    const [found] = await lanes.reads.query<{ id: string }>(
      tenant,
      'SELECT id FROM find_cause($1, $2::text[], $3, (SELECT row FROM find_entry($1, $4::uuid)))',
      [tenant, keys, now, except ?? null],
    );
    return found?.id;
  },

  suppression: (tenant, now) =>
    lanes.turns.run(tenant, async () => {
      const found = await lanes.reads.query<SuppressedAlarms['causes'][number]>(
        tenant,
        `SELECT l.position, c.key FROM ${causes} WHERE c.tenant = $2`,
        [now, tenant],
      );
      if (found.length === 0) return { causes: found, suppressed: [] };
      const suppressed = await lanes.reads.query<SuppressedAlarms['suppressed'][number]>(
        tenant,
        `SELECT l.position, l.rank, l.suppressed AS key FROM live l
         WHERE l.tenant = $2 AND l.suppressed IS NOT NULL AND ${standing('$1')}`,
        [now, tenant],
      );
      return { causes: found, suppressed };
    }),
});

async function updateTenant(
  { reads, write }: AlarmLanes,
  tenant: TenantId,
  at: number,
  limit: number,
): Promise<readonly Entry[]> {
  const { rows } = await write(tenant, limit, (client) =>
    client.query<ChangedRow>('SELECT * FROM settle_suppressed($1, $2, $3)', [tenant, at, limit]),
  );
  const back = rows.flatMap(({ kind, of_id }) => (kind === 'return' ? of_id : []));
  const shown = await readNotifications(reads, tenant, back);
  return rows
    .map(
      ({ kind, of_id: id, at_position: position, of_route: route, ...cause }): Entry =>
        kind === 'suppression'
          ? { kind, position, id, at, by: cause.cause_id, key: cause.cause_key, route }
          : {
              kind,
              position,
              id,
              at,
              by: belfryAsActor,
              from: 'suppressed',
              shown: shown.get(id) ?? null,
              route,
            },
    )
    .sort((a, b) => a.position - b.position);
}
