import { type SqlBool, sql } from 'kysely';
import type { Pairing, Pairings } from '#core/tenants/directory.ts';
import { change, precondition, updateWhen } from '../change.ts';
import type { PairingRow } from '../schema.ts';
import type { Database } from '../sql.ts';
import { isCreatorAuthorized } from './creator-rights.ts';

/** Screens that wait for approval. They belong to no tenant until a person approves them. */
export function createPairings(db: Database): Pairings {
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
      const results = await db.write([
        // An expired or collected code may be used again, even before the sweep deletes it.
        db
          .deleteFrom('pairings')
          .where('code', '=', code)
          .where((eb) => eb.or([eb('expires_at', '<=', createdAt), eb('collected_at', 'is not', null)])),
        db
          .insertInto('pairings')
          .values(row)
          .onConflict((conflict) => conflict.column('code').doNothing()),
      ]);
      return results[1]?.changes === 1;
    },

    async findBySecret(secretHash) {
      const [row] = await db.read(
        db.selectFrom('pairings').selectAll().where('secret_hash', '=', secretHash),
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
      return (await db.read(waiting)).length > 0;
    },

    async approve(code, tenant, panelId, by, at, approver) {
      const [panel] = await db.read(
        db.selectFrom('panels').select('name').where('tenant', '=', tenant).where('id', '=', panelId),
      );
      if (!panel) return false;
      const { name } = panel;
      const { done } = await change(db, {
        entry: { tenant, by, at, action: 'pairing.approve', subject: panelId, detail: { panel: name } },
        locks: [sql`update pairings set code = code where code = ${code}`],
        when: sql<SqlBool>`exists (select 1 from pairings where code = ${code} and pairings.tenant is null and expires_at > ${at})
          and ${precondition('panels', { tenant, id: panelId })} and ${isCreatorAuthorized(approver, at)}`,
        effects: (guard) => [
          updateWhen(
            'pairings',
            { set: { tenant, panel_id: panelId, approved_by: by }, where: { code } },
            guard,
          ),
        ],
        after: db.selectFrom('pairings').selectAll().where('code', '=', code),
      });
      return done;
    },

    async collect(secretHash, at) {
      const [result] = await db.write([
        db
          .updateTable('pairings')
          .set({ collected_at: at })
          .where('secret_hash', '=', secretHash)
          .where('tenant', 'is not', null)
          .where('collected_at', 'is', null)
          .where('expires_at', '>', at),
      ]);
      return result?.changes === 1;
    },

    async sweep(expiredBefore) {
      await db.write([db.deleteFrom('pairings').where('expires_at', '<', expiredBefore)]);
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
