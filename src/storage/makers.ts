import { type Expression, type SqlBool, sql } from 'kysely';
import type { Principal } from '../core/access.ts';
import { always, still } from './change.ts';

/**
 * That who is about to make something is still what they were when their request began: a body may come long after its
 * head, and what is made outlives its maker's right. Without a maker it is the server itself.
 */
export function stillMay(maker: Principal | undefined, at: number): Expression<SqlBool> {
  if (!maker) return always;
  const { tenant, id } = maker;
  if (maker.kind === 'person')
    return sql<SqlBool>`${still('members', { tenant, person: id, role: maker.role })}
      and ${still('sessions', { id: maker.sessionId, person: id })}`;
  return sql<SqlBool>`exists (select 1 from credentials where tenant = ${tenant} and id = ${id} and kind = ${maker.kind}
    and revoked_at is null and (expires_at is null or expires_at > ${at}))`;
}
