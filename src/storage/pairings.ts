import { type SqlBool, sql } from 'kysely';
import type { Pairing, Pairings } from '#core/directory.ts';
import { change } from './change.ts';
import type { Builder, PairingRow } from './schema.ts';
import type { SqlExecutor } from './sql.ts';

/** Screens that wait for someone to let them in. They belong to no tenant until approved. */
export function createPairings(db: Builder, executor: SqlExecutor): Pairings {
  return {
    async open({ code, secretHash, createdAt, expiresAt }) {
      const row: PairingRow = {
        secret_hash: secretHash,
        code,
        created_at: createdAt,
        expires_at: expiresAt,
        tenant: null,
        panel_id: null,
        approved_by: null,
        collected_at: null,
      };
      const results = await executor.write([
        // A code that nobody waits for any more can be given again, before the sweep comes by.
        db
          .deleteFrom('pairings')
          .where('code', '=', code)
          .where((eb) => eb.or([eb('expires_at', '<=', createdAt), eb('collected_at', 'is not', null)]))
          .compile(),
        db
          .insertInto('pairings')
          .values(row)
          .onConflict((conflict) => conflict.column('code').doNothing())
          .compile(),
      ]);
      return results[1]?.changes === 1;
    },

    async findBySecret(secretHash) {
      const [row] = await executor.read(
        db.selectFrom('pairings').selectAll().where('secret_hash', '=', secretHash).compile(),
      );
      return row && toPairing(row);
    },

    async isWaiting(code, at) {
      const waiting = db
        .selectFrom('pairings')
        .select('code')
        .where('code', '=', code)
        .where('tenant', 'is', null)
        .where('expires_at', '>', at);
      return (await executor.read(waiting.compile())).length > 0;
    },

    async approve(code, tenant, panelId, by, at) {
      const [panel] = await executor.read(
        db
          .selectFrom('panels')
          .select('name')
          .where('tenant', '=', tenant)
          .where('id', '=', panelId)
          .compile(),
      );
      if (!panel) return false;
      const { name } = panel;
      const { done } = await change(db, executor, {
        entry: { tenant, by, at, action: 'pairing.approve', subject: panelId, detail: { panel: name } },
        locks: [sql`update pairings set code = code where code = ${code}`.compile(db)],
        when: sql<SqlBool>`exists (select 1 from pairings where code = ${code} and pairings.tenant is null and expires_at > ${at})
          and exists (select 1 from panels where panels.tenant = ${tenant} and panels.id = ${panelId})`,
        effects: (guard) => [
          db
            .updateTable('pairings')
            .set({ tenant, panel_id: panelId, approved_by: by })
            .where('code', '=', code)
            .where(guard)
            .compile(),
        ],
        after: db.selectFrom('pairings').selectAll().where('code', '=', code).compile(),
      });
      return done;
    },

    async collect(secretHash, at) {
      const [result] = await executor.write([
        db
          .updateTable('pairings')
          .set({ collected_at: at })
          .where('secret_hash', '=', secretHash)
          .where('tenant', 'is not', null)
          .where('collected_at', 'is', null)
          .where('expires_at', '>', at)
          .compile(),
      ]);
      return result?.changes === 1;
    },

    async sweep(expiredBefore) {
      await executor.write([db.deleteFrom('pairings').where('expires_at', '<', expiredBefore).compile()]);
    },
  };
}

function toPairing(row: PairingRow): Pairing {
  return {
    code: row.code,
    secretHash: row.secret_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    tenant: row.tenant,
    panelId: row.panel_id,
    approvedBy: row.approved_by,
    collectedAt: row.collected_at,
  };
}
