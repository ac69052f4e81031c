import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { History, NotificationDraft } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { draft as anyDraft, routeTo } from '../support/notification-draft.ts';
import { onStorage } from '../support/storage.ts';

/** A notification of before the first rule. */
export const draft = (over: Partial<NotificationDraft> = {}): NotificationDraft =>
  anyDraft({ tokenId: 'seeded0000', route: beforeRules, ...over });
const beforeRules = routeTo({ all: true }, { revision: 0 });

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
