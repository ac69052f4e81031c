/** The tenant that was looked at last on this machine: where the bare address leads. */
import type { Membership } from '#contract/session.ts';

const storageKey = 'belfry.tenant';

export function rememberTenant(name: string): void {
  try {
    localStorage.setItem(storageKey, name);
  } catch {
    // Without storage the first tenant is where one starts.
  }
}

/** undefined when the person belongs to none. */
export function lastTenant(tenants: readonly Membership[]): string | undefined {
  let last: string | null = null;
  try {
    last = localStorage.getItem(storageKey);
  } catch {
    // As above.
  }
  return (tenants.find(({ name }) => name === last) ?? tenants[0])?.name;
}
