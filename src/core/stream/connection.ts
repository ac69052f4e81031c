/** A panel's connection: its screen, the cursor from which it resumes, and the settings that the server sends to it. */
import { hash } from 'node:crypto';
import type { SettingsEvent } from '#contract/panel-events.ts';
import type { Cursor } from '#contract/sse.ts';
import type { PanelRecord, Screen } from '../directory.ts';
import type { TenantSnapshot } from '../tenancy.ts';
import type { PanelStream } from './panel-stream.ts';

/** A panel, one of its screens, and the cursor of the panel. */
export interface PanelContact extends Screen {
  readonly id: string;
  /** All entries up to this position have been written to the stream. */
  readonly cursor: number;
}

/** A panel with one of its connected screens. */
export interface ConnectedPanel extends PanelContact {
  /** Positions behind the head. */
  readonly lag: number;
}

/** The panels of these connections (or only `panelId`), each with its newest screen and the highest cursor of its streams. */
export function connectedPanels(
  connections: Iterable<readonly [PanelStream, { readonly screen: Screen }]>,
  head: number,
  panelId?: string,
): Map<string, ConnectedPanel> {
  const panels = new Map<string, ConnectedPanel>();
  for (const [stream, { screen }] of connections) {
    const { panelId: id, closed } = stream;
    if (closed || (panelId !== undefined && id !== panelId)) continue;
    const cursor = Math.max(stream.cursor, panels.get(id)?.cursor ?? 0);
    panels.set(id, { id, cursor, lag: Math.max(0, head - cursor), ...screen });
  }
  return panels;
}

/** The screen that connects, and the cursor from which it resumes. */
export interface ConnectRequest {
  readonly from: Cursor | undefined;
  readonly screen: Screen;
}

/** The `settings` event: the panel, its tenant and the levels. */
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

/** Equal settings have equal digests. */
export function digest(settings: unknown): string {
  return hash('sha1', JSON.stringify(settings), 'base64');
}
