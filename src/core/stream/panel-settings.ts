import { hash } from 'node:crypto';
import type { SettingsEvent } from '#contract/panel-events.ts';
import type { PanelRecord } from '../directory.ts';
import type { TenantSnapshot } from '../tenancy.ts';

/** What a panel is told of itself, its tenant and the levels. */
export function settingsData(
  { record, levels }: TenantSnapshot,
  { id, name, tags, location, display }: PanelRecord,
): SettingsEvent {
  return {
    panel: { id, name, tags: [...tags], location, display },
    tenant: { name: record.name, title: record.title, timeZone: record.timeZone },
    levels: [...levels.values()],
  };
}

/** Two settings with one digest are the same. */
export function digest(settings: unknown): string {
  return hash('sha1', JSON.stringify(settings), 'base64');
}
