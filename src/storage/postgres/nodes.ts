import { randomUUID } from 'node:crypto';
import { type LimitStore, rateState } from '#core/limits/rate-limits.ts';
import type { NodePanels, Nodes, PanelCommandEvent, RemotePanel } from '#core/streams/nodes.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import type { Connections } from './connections.ts';

/** How long a node counts after its last report. */
const lease = "interval '3 seconds'";
const sharedLease = "interval '15 seconds'";
/** A command that was not taken in this time is not for the screen that is connected now. */
const commandLife = "interval '5 seconds'";

/** Nodes by rows of a database; times are of its clock alone. */
export function createNodes(reads: Connections, writes: Connections): Nodes {
  const node = randomUUID();
  /** What the database has of this node, as {@link rowsOf} has it; undefined: that is not known. */
  let reported: ReadonlyMap<string, string> | undefined;

  const write = async (changed: readonly string[], gone: readonly string[]) => {
    if (changed.length + gone.length === 0) return;
    await writes.query(
      'all',
      `WITH gone AS (
         DELETE FROM node_panels p USING jsonb_to_recordset($3) r(tenant bigint, panel_id text)
         WHERE p.node = $1 AND p.tenant = r.tenant AND p.panel_id = r.panel_id
       ) INSERT INTO node_panels (node, tenant, panel_id, lag, client, address)
       SELECT $1, r.* FROM jsonb_to_recordset($2) r(tenant bigint, panel_id text, lag bigint, client text, address text)
       ON CONFLICT (tenant, panel_id, node) DO UPDATE
       SET lag = excluded.lag, client = excluded.client, address = excluded.address`,
      [node, `[${changed.join()}]`, `[${gone.join()}]`],
    );
  };

  return {
    async report(connected) {
      const rows = rowsOf(connected);
      const [renewed] = await writes.query<{ is_new: boolean }>(
        'all',
        `WITH dead AS (DELETE FROM nodes WHERE alive_until < now() - ${lease} AND id <> $1)
         INSERT INTO nodes VALUES ($1, now() + ${lease}, '{}')
         ON CONFLICT (id) DO UPDATE SET alive_until = excluded.alive_until
         RETURNING xmax = 0 AS is_new`,
        [node],
      );
      // The database has lost what this node reported, or another node took it for dead.
      if (renewed?.is_new) reported = new Map();
      const before = reported;
      reported = undefined;
      if (!before) await writes.query('all', 'DELETE FROM node_panels WHERE node = $1', [node]);
      await write(
        [...rows].filter(([name, row]) => before?.get(name) !== row).map(([, row]) => row),
        [...(before ?? [])].filter(([name]) => !rows.has(name)).map(([, row]) => row),
      );
      reported = rows;
    },

    elsewhere(tenant, panelId) {
      return reads.query<RemotePanel>(
        tenant,
        // A lag is up to half a second old, so the cursor that it gives may be ahead by the entries since then.
        `SELECT p.panel_id AS id, p.lag, p.client, p.address, greatest(0, coalesce(k.head, 0) - p.lag) AS cursor
         FROM node_panels p JOIN nodes n ON n.id = p.node LEFT JOIN logs k ON k.tenant = p.tenant
         WHERE p.tenant = $1 AND ($2::text IS NULL OR p.panel_id = $2) AND p.node <> $3 AND n.alive_until > now()`,
        [tenant, panelId ?? null, node],
      );
    },

    async leaveCommand({ tenant, panelId, event, data }) {
      const left = await writes.query(
        tenant,
        `INSERT INTO panel_commands (node, tenant, panel_id, event, data)
         SELECT p.node, p.tenant, p.panel_id, $3, $4 FROM node_panels p JOIN nodes n ON n.id = p.node
         WHERE p.tenant = $1 AND p.panel_id = $2 AND p.node <> $5 AND n.alive_until > now() RETURNING 1`,
        [tenant, panelId, event, JSON.stringify(data), node],
      );
      return left.length > 0;
    },

    async takeCommands() {
      const taken = await writes.query<
        PanelCommandEvent & { readonly id: number; readonly is_fresh: boolean }
      >(
        'all',
        `DELETE FROM panel_commands WHERE node = $1
         RETURNING id, tenant, panel_id AS "panelId", event, data, sent_at > now() - ${commandLife} AS is_fresh`,
        [node],
      );
      return taken.filter(({ is_fresh }) => is_fresh).sort((a, b) => a.id - b.id);
    },

    lease(name) {
      const row = `lease ${name}`;
      return {
        async hold() {
          const held = await writes.query(
            'all',
            `INSERT INTO meta VALUES ($1, $2 || ' ' || extract(epoch FROM clock_timestamp() + ${sharedLease}))
             ON CONFLICT (name) DO UPDATE SET value = excluded.value
             WHERE split_part(meta.value, ' ', 1) = $2
               OR split_part(meta.value, ' ', 2)::numeric < extract(epoch FROM clock_timestamp())
             RETURNING 1`,
            [row, node],
          );
          return held.length > 0;
        },
        async release() {
          await writes.query('all', "DELETE FROM meta WHERE name = $1 AND split_part(value, ' ', 1) = $2", [
            row,
            node,
          ]);
        },
      };
    },

    async leave() {
      await writes.query('all', 'DELETE FROM nodes WHERE id = $1', [node]);
    },
  };
}

/** Each row as JSON, by tenant and panel. */
function rowsOf(connected: Iterable<NodePanels>) {
  const rows = new Map<string, string>();
  for (const { tenant, panels } of connected) {
    for (const { id, lag, client, address } of panels.values())
      rows.set(`${tenant} ${id}`, JSON.stringify({ tenant, panel_id: id, lag, client, address }));
  }
  return rows;
}

const nowMs = '(extract(epoch FROM clock_timestamp()) * 1000)::double precision';
const stepMs = ({ perSecond }: Rate) => 1000 / perSecond;

/**
 * Token buckets as rows, by the clock of the database. A row has the time at which its bucket is full again: a token taken
 * moves it on by the time in which one comes back.
 */
export function createLimitStore(writes: Connections): LimitStore {
  return {
    async take(name, rate) {
      const step = stepMs(rate);
      const [found] = await writes.query<{ taken: number | null; known: number }>(
        'all',
        `WITH clock AS (SELECT ${nowMs} AS now),
         taken AS (
           INSERT INTO rate_limits AS l (name, full_at) SELECT $1, now + $2 FROM clock
           ON CONFLICT (name) DO UPDATE SET full_at = greatest(l.full_at, (SELECT now FROM clock)) + $2
           WHERE greatest(l.full_at, (SELECT now FROM clock)) + $2 <= (SELECT now FROM clock) + $2::double precision * $3
           RETURNING full_at
         ) SELECT (SELECT full_at FROM taken) - now AS taken,
             greatest(0, coalesce((SELECT full_at FROM rate_limits WHERE name = $1), 0) - now) AS known FROM clock`,
        [name, step, rate.burst],
      );
      const missingMs = found?.taken ?? found?.known ?? 0;
      const isAllowed = found?.taken !== null && found !== undefined;
      return rateState(isAllowed, rate.burst - missingMs / step, rate);
    },

    async giveBack(name, rate) {
      await writes.query('all', 'UPDATE rate_limits SET full_at = full_at - $2 WHERE name = $1', [
        name,
        stepMs(rate),
      ]);
    },

    async add(taken) {
      const rows = taken.map(({ name, rate, count }) => ({ name, ms: count * stepMs(rate) }));
      const found = await writes.query<{ name: string; missing: number }>(
        'all',
        `WITH clock AS (SELECT ${nowMs} AS now)
         INSERT INTO rate_limits AS l (name, full_at)
         SELECT t.name, clock.now + t.ms FROM jsonb_to_recordset($1) t(name text, ms double precision), clock ORDER BY t.name
         ON CONFLICT (name) DO UPDATE
         SET full_at = greatest(l.full_at, ${nowMs}) + excluded.full_at - (SELECT now FROM clock)
         RETURNING name, full_at - (SELECT now FROM clock) AS missing`,
        [JSON.stringify(rows)],
      );
      const missing = new Map(found.map((row) => [row.name, row.missing]));
      return new Map(
        taken.flatMap(({ name, rate }) => {
          const ms = missing.get(name);
          return ms === undefined ? [] : [[name, rate.burst - ms / stepMs(rate)] as const];
        }),
      );
    },

    async sweep() {
      await writes.query('all', `DELETE FROM rate_limits WHERE full_at < ${nowMs}`, []);
    },
  };
}
