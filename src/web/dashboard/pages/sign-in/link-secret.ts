/** The secret of an invitation or setup link. It is in the URL fragment (after #), so it is in no request and no log. */
import { useState } from 'react';

const storageKey = 'belfry.link-secret';

/** The secret of this page's link, or the one kept during a sign-in. */
export function useLinkSecret(): string | undefined {
  const [secret] = useState(() => location.hash.slice(1) || takeKeptSecret());
  return secret === '' ? undefined : secret;
}

/** Keeps the secret in this tab while the person signs in; it is deleted when it is read. */
export function keepLinkSecret(secret: string): void {
  sessionStorage.setItem(storageKey, secret);
}

function takeKeptSecret(): string {
  const kept = sessionStorage.getItem(storageKey) ?? '';
  sessionStorage.removeItem(storageKey);
  return kept;
}
