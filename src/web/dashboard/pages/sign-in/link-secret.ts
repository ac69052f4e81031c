/** What stands behind # in the address: a secret of a link, which no request and no log ever carries. */
import { useState } from 'react';

const storageKey = 'belfry.link-secret';

/** The secret of this page's link, or the one kept for it over a sign-in. */
export function useSecretInAddress(): string | undefined {
  const [secret] = useState(() => location.hash.slice(1) || takeKept());
  return secret === '' ? undefined : secret;
}

/** For a page that is left to sign in and come back to: in this tab alone, once, and never in an address. */
export function keepSecret(secret: string): void {
  sessionStorage.setItem(storageKey, secret);
}

function takeKept(): string {
  const kept = sessionStorage.getItem(storageKey) ?? '';
  sessionStorage.removeItem(storageKey);
  return kept;
}
