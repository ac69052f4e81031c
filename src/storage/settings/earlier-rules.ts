import { sql } from 'kysely';
import { limits } from '#contract/limits.ts';
import type { TenantId } from '#core/ports.ts';
import type { Database } from '../sql.ts';

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
