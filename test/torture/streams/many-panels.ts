import { type OpenedStorage, openStorage } from '../../../src/app.ts';
import { readConfig } from '../../../src/config.ts';
import { createLogger } from '../../../src/log.ts';
import { environment } from '../../support/server-process.ts';

/** Works on the data of a folder directly, while no server runs there. */
export async function onStorage<T>(folder: string, work: (opened: OpenedStorage) => Promise<T>): Promise<T> {
  const own = Object.entries(environment(folder)).filter(([name]) => name.startsWith('BELFRY_'));
  const config = readConfig(Object.fromEntries(own));
  const opened = await openStorage(config, createLogger({ level: 'silent', format: 'json' }), 'server');
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/** Registers so many panels of the tenant `default`, while no server runs there; answers their ids. */
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
