/** How a token or a key stands. */
import type { Key } from '#contract/token.ts';

export type CredentialState = 'active' | 'expiring' | 'expired' | 'revoked';

/** What ends within this is warned of. */
export const warnMs = 14 * 86_400_000;

export function stateOf(
  { revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>,
  now: number,
): CredentialState {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const leftMs = Date.parse(expiresAt) - now;
  if (leftMs <= 0) return 'expired';
  return leftMs <= warnMs ? 'expiring' : 'active';
}

export const isOver = (state: CredentialState): boolean => state === 'expired' || state === 'revoked';
