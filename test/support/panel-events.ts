/** Events of a panel's stream, for tests. */
import type { PanelEvent } from '#client/panel-events.ts';
import { noTexts } from '#contract/history/fields.ts';
import type { NotificationEvent } from '#contract/history/notification.ts';
import type { ReadyEvent } from '#contract/panels/panel.ts';
import type { Level } from '#contract/routing/level.ts';

/** The time of events without one. */
export const start = Date.parse('2026-11-20T10:00:00.000Z');

export const iso = (at: number) => new Date(at).toISOString();

const look = { builtIn: true, sound: 'none', durationMs: 0 } as const;

export const levels: Level[] = [
  { ...look, name: 'info', rank: 20, color: '#58a6ff', icon: 'info-circle' },
  { ...look, name: 'warning', rank: 30, color: '#f2b63c', icon: 'alert-triangle' },
  { ...look, name: 'critical', rank: 50, color: '#ff5c8a', icon: 'flame' },
];

export function readyData(over: Partial<ReadyEvent> = {}): ReadyEvent {
  return {
    panel: { id: 'p', name: 'lobby', tags: [], location: null, display: {} },
    tenant: { name: 'default', title: 'Default', timeZone: 'UTC' },
    levels,
    serverTime: iso(start),
    heartbeatMs: 15_000,
    epoch: 'e',
    head: 0,
    resume: 'live',
    ...over,
  };
}

export function ready(over: Partial<ReadyEvent> = {}): PanelEvent {
  return { type: 'ready', data: readyData(over) };
}

export function notification(position: number, over: Partial<NotificationEvent> = {}): NotificationEvent {
  return {
    ...noTexts,
    id: `n${position}`,
    position,
    title: `Title ${position}`,
    message: 'M',
    level: 'info',
    rank: 20,
    ttl: 0,
    labels: {},
    sourceIp: '127.0.0.1',
    receivedAt: iso(start),
    expiresAt: null,
    remainingMs: null,
    count: 0,
    acknowledged: null,
    escalated: null,
    ...over,
  };
}

export function note(position: number, over: Partial<NotificationEvent> = {}): PanelEvent {
  return { type: 'notification', data: notification(position, over) };
}
