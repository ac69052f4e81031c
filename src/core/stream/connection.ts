/** Who looks at a panel's stream. */

import { hash } from 'node:crypto';
import type { SettingsEvent } from '#contract/panel-events.ts';
import type { Cursor } from '#contract/sse.ts';
import type { PanelRecord, Screen } from '../directory.ts';
import type { TenantSnapshot } from '../tenancy.ts';

/** A panel as one of its screens stands. */
export interface ConnectedPanel extends Screen {
  readonly id: string;
  /** Everything up to here has been written to it. */
  readonly cursor: number;
}

/** How a screen comes: who it is, and where it goes on. */
export interface Opening {
  readonly from: Cursor | undefined;
  readonly screen: Screen;
}

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
