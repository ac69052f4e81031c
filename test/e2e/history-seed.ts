import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import type { History, NotificationDraft, Route, TenantId } from '#core/ports.ts';
import { onStorage } from '../support/storage.ts';

const everyone: Route = { revision: 0, rules: [], muted: false, target: { all: true, ids: [], tags: [] } };

/** A notification that stays until cleared; give what matters. */
export function draft(over: Partial<NotificationDraft> = {}): NotificationDraft {
  return {
    id: uuidv7(),
    receivedAt: Date.now(),
    title: 't',
    message: 'm',
    level: 'error',
    rank: 40,
    ttl: 0,
    sentLevel: 'error',
    sentTtl: null,
    expiresAt: null,
    ip: null,
    host: null,
    key: null,
    url: null,
    sourceIp: '127.0.0.1',
    tokenId: 'seeded0000',
    route: everyone,
    throttledOn: null,
    throttleCount: 0,
    ...over,
  };
}

/** A folder with a database that `fill` has written to, for a server to be started on. */
export async function seededFolder(
  fill: (history: History, tenant: TenantId) => Promise<unknown>,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-seeded-'));
  await onStorage(folder, async ({ storage, directory }) => {
    const tenant = await directory.tenants.findByName('default');
    await fill(storage.history, tenant?.id ?? Number.NaN);
  });
  return folder;
}

/** Stores `count` of them, many at a time. */
export async function append(
  history: History,
  tenant: TenantId,
  count: number,
  over: (i: number) => Partial<NotificationDraft> = () => ({}),
): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    const some = Math.min(1_000, count - from);
    await Promise.all(
      Array.from({ length: some }, (_, i) => history.append(tenant, draft(over(from + i + 1)), null)),
    );
  }
}
