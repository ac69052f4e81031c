import type { Connection } from '#client/panel-events.ts';

/** How far the screen can be believed. */
export interface Contact {
  /** `never`: no stream was ready yet; `stale`: what is shown may be out of date. */
  readonly state: 'never' | 'fresh' | 'stale';
  /** Since the last word of the server. */
  readonly silentMs: number;
}

/** One heartbeat may be late and another lost before what is shown counts as out of date. */
const silentHeartbeats = 2.5;

export interface Line {
  readonly connection: Connection;
  readonly lastHeardAt: number | undefined;
  readonly heartbeatMs: number;
}

export function contactOf({ lastHeardAt, heartbeatMs }: Line, now: number): Contact {
  if (lastHeardAt === undefined) return { state: 'never', silentMs: 0 };
  const silentMs = Math.max(0, now - lastHeardAt);
  return { state: silentMs >= heartbeatMs * silentHeartbeats ? 'stale' : 'fresh', silentMs };
}
