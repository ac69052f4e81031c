/** The events of a panel's stream besides `ready` and `notification`. */
import { type Static, Type } from 'typebox';
import { Level } from '../routing/level.ts';
import { Instant, nullable } from '../schema.ts';
import { ReadyEvent } from './panel.ts';

const Position = Type.Integer({ minimum: 1, description: 'Of this entry in the log.' });
const DurationMs = Type.Integer({ minimum: 1, description: 'How long to show it.' });

export const ClearEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The notification to take off.' }),
    position: Position,
    reason: Type.Enum(['cleared', 'replaced']),
    by: Type.String({ description: 'Who cleared it, or the id of the notification that replaced it.' }),
  },
  { title: 'ClearEvent' },
);
export type ClearEvent = Static<typeof ClearEvent>;

/** Somebody has seen the notification `id`; it stays on its panels. */
export const AcknowledgeEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    position: Position,
    at: Instant,
    by: Type.String({ description: 'The name of a person, token or key.' }),
    note: nullable(Type.String()),
  },
  { title: 'AcknowledgeEvent' },
);
export type AcknowledgeEvent = Static<typeof AcknowledgeEvent>;

/** One more that a throttle counted on the notification `id`. */
export const ThrottledEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    position: Position,
    count: Type.Integer({ minimum: 1, description: 'How many were counted on it so far.' }),
    receivedAt: Instant,
  },
  { title: 'ThrottledEvent' },
);
export type ThrottledEvent = Static<typeof ThrottledEvent>;

/** The panel, its tenant or the levels changed; all of it anew. */
export const SettingsEvent = Type.Object(
  {
    panel: ReadyEvent.properties.panel,
    tenant: ReadyEvent.properties.tenant,
    levels: Type.Array(Level),
  },
  { title: 'SettingsEvent' },
);
export type SettingsEvent = Static<typeof SettingsEvent>;

export const HeartbeatEvent = Type.Object(
  { serverTime: Instant, head: Type.Integer({ minimum: 0 }) },
  { title: 'HeartbeatEvent' },
);
export type HeartbeatEvent = Static<typeof HeartbeatEvent>;

/** `gap` and `reset`: the panel drops what it shows, the live set follows. */
export const RestartEvent = Type.Object(
  {
    reason: Type.String({ description: 'Why it could not go on from where it was.' }),
    head: Type.Integer({ minimum: 0 }),
  },
  { title: 'RestartEvent' },
);
export type RestartEvent = Static<typeof RestartEvent>;

/** The server goes away for a while. */
export const ByeEvent = Type.Object(
  { reconnectMs: Type.Integer({ minimum: 0, description: 'When to come back; drawn for each panel.' }) },
  { title: 'ByeEvent' },
);
export type ByeEvent = Static<typeof ByeEvent>;

/** Show which panel this is. */
export const IdentifyEvent = Type.Object({ durationMs: DurationMs }, { title: 'IdentifyEvent' });
export type IdentifyEvent = Static<typeof IdentifyEvent>;

/** Load the page anew. */
export const ReloadEvent = Type.Object({}, { title: 'ReloadEvent' });
export type ReloadEvent = Static<typeof ReloadEvent>;

/** Draw a test card; the levels to draw are those of `ready` and `settings`. */
export const TestEvent = Type.Object({ durationMs: DurationMs }, { title: 'TestEvent' });
export type TestEvent = Static<typeof TestEvent>;
