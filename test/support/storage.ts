/** Works on a database in this process, without a server; a command would take a second for the same. */

import type { Role } from '#contract/people/token.ts';
import { mintSecret } from '#core/people/secrets.ts';
import type { CredentialRecord, Directory } from '#core/tenants/directory.ts';
import { type OpenedStorage, openStorage } from '#server/app.ts';
import { createLogger } from '#server/log.ts';
import { readConfig } from '#settings/config.ts';
import { environment } from './environment.ts';

/** Opens the storage of a folder, while no server uses it. */
export async function onStorage<T>(
  folder: string,
  work: (opened: OpenedStorage) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const own = Object.entries({ ...environment(folder), ...env }).filter(([name]) =>
    name.startsWith('BELFRY_'),
  );
  const config = readConfig(Object.fromEntries(own));
  const opened = await openStorage(config, createLogger({ level: 'silent', format: 'json' }), 'server');
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Adds a token or key to a tenant; returns its text. */
export async function addCredential(
  directory: Directory,
  kind: 'token' | 'key',
  tenant: number,
  over: Partial<CredentialRecord> = {},
): Promise<string> {
  const minted = mintSecret(kind);
  await directory.credentials.add({
    tenant,
    kind,
    id: minted.id,
    hash: minted.hash,
    name: kind,
    scopes: [],
    role: null,
    rate: null,
    panelId: null,
    allowFrom: [],
    allowInUrl: false,
    createdAt: Date.now(),
    createdBy: 'test',
    lastUsedAt: null,
    lastUsedFrom: null,
    expiresAt: null,
    revokedAt: null,
    ...over,
  });
  return minted.text;
}

/** Creates a token with every scope and an automation key of a tenant, and the tenant if necessary. */
export function credentials(
  folder: string,
  { tenant = 'default', role = 'admin' as Role, name = 'test' } = {},
): Promise<{ token: string; key: string }> {
  return onStorage(folder, async ({ directory }) => {
    const { id } =
      (await directory.tenants.findByName(tenant)) ??
      (await directory.tenants.create(tenant, tenant, 'test', Date.now()));
    return {
      token: await addCredential(directory, 'token', id, { name, scopes: ['notify', 'panel', 'metrics'] }),
      key: await addCredential(directory, 'key', id, { name, role }),
    };
  });
}

/** Registers panels of the tenant `default`, while no server runs; returns their ids. */
export function registerPanels(folder: string, count: number): Promise<string[]> {
  return onStorage(folder, async ({ directory }) => {
    const tenant = await directory.tenants.findByName('default');
    if (!tenant) throw new Error('there is no tenant default');
    const ids = Array.from({ length: count }, (_, i) => `panel-${i}`);
    const register = (id: string) =>
      directory.panels.register(tenant.id, { id, name: id, tags: [], location: null }, 'torture', Date.now());
    for (let from = 0; from < count; from += 500)
      await Promise.all(ids.slice(from, from + 500).map(register));
    return ids;
  });
}
