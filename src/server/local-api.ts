/** The HTTP API on a database, without a listener: for commands that do what the API does, whether a server runs or not. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { AppError } from '#core/errors.ts';
import { newKey } from '#core/people/credentials.ts';
import { createServer } from '#http/server.ts';
import type { Config } from '#settings/config.ts';
import type { Logger } from './log.ts';
import { createServices, keyFileOf, type Opened } from './services.ts';

export interface LocalApi {
  readonly fetch: typeof fetch;
  /** The key for calls. It is neither stored nor valid elsewhere. */
  readonly token: string;
  close(): Promise<void>;
}

/** @throws AppError `not-found` for PostgreSQL when no setting names a key file and none is here. */
export function assertKeyFile(config: Config): void {
  const keyFile = keyFileOf(config);
  if (config.database.kind !== 'postgres' || config.keyFile !== undefined || existsSync(keyFile)) return;
  throw new AppError(
    'not-found',
    `there is no key file at ${resolve(keyFile)}: name the key file of the nodes in BELFRY_KEY_FILE; it is made if the database is new`,
  );
}

/** As an admin of the tenant; undefined when there is none of that name. Closes `opened` in the end. */
export async function createLocalApi(
  config: Config,
  logger: Logger,
  opened: Opened & { close(): Promise<unknown> },
  { tenant: name, actor }: { readonly tenant: string; readonly actor: string },
): Promise<LocalApi | undefined> {
  const tenant = await opened.directory.tenants.findByName(name);
  if (!tenant) {
    await opened.close();
    return undefined;
  }
  const { record, text } = newKey(tenant.id, { name: actor, role: 'admin' }, actor, Date.now());
  const { credentials } = opened.directory;
  const find: typeof credentials.find = async (id) =>
    id === record.id ? { ...record, tenantState: 'active' } : credentials.find(id);
  const directory = { ...opened.directory, credentials: { ...credentials, find } };
  // Nodes poll the database several times a second, so no wake-up is needed.
  const own: Config = { ...config, bus: 'in-process', rate: { ...config.rate, api: 'off' } };
  const services = await createServices(own, logger, { ...opened, directory });
  // Only a server delivers through channels.
  const channels = { ...services.channels, wake: () => undefined };
  const { app } = await createServer({ services: { ...services, channels }, logger });
  return {
    token: text,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const { statusCode, headers, rawPayload } = await app.inject({
        method: request.method as 'GET',
        url: request.url,
        headers: Object.fromEntries(request.headers),
        ...(request.body && { payload: Buffer.from(await request.arrayBuffer()) }),
      });
      const body = [204, 304].includes(statusCode) ? null : new Uint8Array(rawPayload);
      return new Response(body, { status: statusCode, headers: headers as Record<string, string> });
    },
    async close() {
      services.tenantStreams.close();
      await app.close();
      await services.bus.close();
      await opened.close();
    },
  };
}
