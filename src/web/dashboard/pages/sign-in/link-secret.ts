/** The secret of a link, after the # of the address: no request and no log has it. */
import { useState } from 'react';

const storageKey = 'belfry.link-secret';

/** The secret of this page's link, or the one kept during a sign-in. */
export function useLinkSecret(): string | undefined {
  const [secret] = useState(() => location.hash.slice(1) || takeKeptSecret());
  return secret === '' ? undefined : secret;
}

/** Keeps it during a sign-in: in this tab alone, and once. */
export function keepLinkSecret(secret: string): void {
  sessionStorage.setItem(storageKey, secret);
}

function takeKeptSecret(): string {
  const kept = sessionStorage.getItem(storageKey) ?? '';
  sessionStorage.removeItem(storageKey);
  return kept;
}
