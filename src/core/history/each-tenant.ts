/** The most tenants named in an error. */
const mostNamed = 10;

/**
 * Runs `work` for each tenant in turn. One that fails keeps no other from its turn.
 * @throws Error at the end when `task` failed for some tenants, with their names and the first reason.
 */
export async function forEachTenant<Tenant extends { readonly name: string }>(
  tenants: readonly Tenant[],
  task: string,
  work: (tenant: Tenant) => Promise<void>,
): Promise<void> {
  const failed: { readonly name: string; readonly error: unknown }[] = [];
  for (const tenant of tenants) {
    try {
      await work(tenant);
    } catch (error) {
      failed.push({ name: tenant.name, error });
    }
  }
  if (failed.length === 0) return;
  const names = failed.slice(0, mostNamed).map(({ name }) => name);
  const others = failed.length > mostNamed ? ` and ${failed.length - mostNamed} others` : '';
  throw new Error(`${task} failed for the tenants ${names.join(', ')}${others}`, { cause: failed[0]?.error });
}
