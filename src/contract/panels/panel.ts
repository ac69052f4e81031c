import { type Static, Type } from 'typebox';
import { NotificationEvent } from '../history/notification.ts';
import { limits } from '../limits.ts';
import { Level } from '../routing/level.ts';
import { closed, component, Instant, NamedRef, NullableInstant, nullable, patch } from '../schema.ts';
import { weekdays } from '../time.ts';
import { buttonSettings } from './buttons.ts';

const PanelName = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '^\\S(.*\\S)?$',
  errorMessage: 'must have 1 to 100 characters, without white space around them',
});
const Tag = Type.String({
  pattern: `^[a-z0-9][a-z0-9_.-]{0,${limits.tagChars - 1}}$`,
  errorMessage: 'must be 1 to 32 of a-z, 0-9, "_", "." and "-", starting with a letter or digit',
});
const Tags = Type.Array(Tag, { maxItems: 50, uniqueItems: true });
const TimeOfDay = Type.String({
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$',
  errorMessage: 'must be a time of day from 00:00 to 23:59',
});
const Location = nullable(Type.String({ maxLength: 200 }));

const Topic = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  errorMessage: 'must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"',
});

/** What shows a panel: a page in a browser, an app on a phone, or a program that reads. */
export const panelKinds = ['screen', 'phone', 'program'] as const;
export type PanelKind = (typeof panelKinds)[number];
const Kind = Type.Enum([...panelKinds]);

/** How a panel draws; each is optional and the panel page has a default for it. */
export const DisplaySettings = patch('DisplaySettings', {
  scheme: Type.Enum(['dark', 'light', 'auto']),
  minLevel: Type.String({ maxLength: 32 }),
  maxCards: Type.Integer({ minimum: 1, maximum: 100 }),
  labels: Type.Array(
    Type.String({
      pattern: limits.labelNamePattern.source,
      errorMessage: 'must be the name of a label, as in site',
    }),
    { maxItems: limits.cardLabels, uniqueItems: true, description: 'The labels that cards show, by name.' },
  ),
  scale: Type.Number({ minimum: 0.5, maximum: 4 }),
  sound: Type.Boolean(),
  actions: Type.Enum([...buttonSettings], {
    description:
      'The buttons of notifications on a phone: acknowledge (default), with shelve also that, or none.',
  }),
  deleteClears: Type.Boolean({
    description:
      'Of a phone with the Gotify app: whether deleting a message there clears the alarm for everybody (default false).',
  }),
  quietFrom: TimeOfDay,
  quietUntil: TimeOfDay,
  quietDays: Type.Array(Type.Enum([...weekdays]), {
    ...{ minItems: 1, maxItems: 7, uniqueItems: true },
    description: 'Of a phone: the days on which its quiet hours begin; default all.',
  }),
  criticalRings: Type.Boolean({
    description:
      'Of a phone: whether levels of rank 50 and above ring in quiet hours (default true). Others arrive without a sound.',
  }),
  ringPauseMs: Type.Integer({
    minimum: 1_000,
    maximum: 3_600_000,
    description:
      'Of a phone: how long messages of the same or a lower level make no sound after one that did; default none.',
  }),
  dimFrom: TimeOfDay,
  dimUntil: TimeOfDay,
  timeZone: Type.String({ maxLength: 64 }),
  locale: Type.String({ maxLength: 35 }),
  alertWhenLostMs: Type.Integer({
    minimum: 5_000,
    maximum: 604_800_000,
    description:
      'Belfry sends a notification when the panel, which was connected before, has not been for so long.',
  }),
});
export type DisplaySettings = Static<typeof DisplaySettings>;

/** Those that have no effect without another one, and that one. */
const needs = [
  ['quietFrom', 'quietUntil'],
  ['quietUntil', 'quietFrom'],
  ['quietDays', 'quietFrom'],
  ['dimFrom', 'dimUntil'],
  ['dimUntil', 'dimFrom'],
] as const;

/** The settings that are given without the one that they need, with its name. */
export const incompleteSettings = (display: DisplaySettings): readonly (readonly [string, string])[] =>
  needs.filter(([name, needed]) => display[name] !== undefined && display[needed] === undefined);

export const PanelRegister = component('PanelRegister', {
  name: PanelName,
  tags: Type.Optional(Tags),
  location: Type.Optional(Location),
  kind: Type.Optional({ ...Kind, description: 'Default of a new panel: `screen`.' }),
});
export type PanelRegister = Static<typeof PanelRegister>;

export const PanelPatch = patch('PanelPatch', {
  name: PanelName,
  kind: Kind,
  tags: Tags,
  location: Location,
  display: DisplaySettings,
});
export type PanelPatch = Static<typeof PanelPatch>;

export const Panel = component('Panel', {
  id: Type.String(),
  name: Type.String(),
  kind: Kind,
  topic: Type.String({
    ...Topic,
    description: 'Its name in the addresses of ntfy (/ntfy/TOPIC). It stays when the panel is renamed.',
  }),
  tags: Type.Array(Type.String()),
  location: Location,
  display: DisplaySettings,
  events: Type.String({ description: 'Path of its event stream.' }),
  createdAt: Instant,
  online: Type.Boolean({ description: 'Its event stream is connected.' }),
  lastSeenAt: NullableInstant,
  lag: Type.Integer({ minimum: 0, description: 'Entries of the log not yet sent to it.' }),
  version: nullable(Type.String(), { description: 'What its newest screen says it is, as in panel/0.9.0.' }),
  address: nullable(Type.String(), { description: 'Where its newest screen is connected from, or was.' }),
});
export type Panel = Static<typeof Panel>;

export const PanelList = component('PanelList', { panels: Type.Array(Panel) });

/** A panel's word on what became of a notification; `at` is the panel's clock, corrected by the server's time. */
export const Receipts = Type.Array(
  closed({
    id: Type.String({ format: 'uuid' }),
    state: Type.Enum(['shown', 'expired', 'cleared']),
    at: Type.Union([
      Instant,
      Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description: 'Unix milliseconds.' }),
    ]),
    inGroup: Type.Optional(
      Type.Boolean({
        description: 'Of `shown`: as part of the card or row of a group, named or counted there.',
      }),
    ),
  }),
  { title: 'Receipts', maxItems: 1000 },
);
export type Receipts = Static<typeof Receipts>;

export const ReceiptsAccepted = component('ReceiptsAccepted', {
  ok: Type.Literal(true),
  recorded: Type.Integer({
    description: 'Receipts of notifications routed to this panel; others are ignored.',
  }),
});

export const PanelReceipt = component('PanelReceipt', {
  panel: NamedRef,
  online: Type.Boolean(),
  sent: Type.Boolean({
    description:
      'Its stream has passed this position: of a phone, delivered to it. A panel that connects after the notification has left the panels passes it without showing it.',
  }),
  hidden: Type.Boolean({ description: 'Its settings, as they are now, hide this level: minLevel.' }),
  shownAt: NullableInstant,
  inGroup: Type.Boolean({
    description: 'It was shown as part of the card or row of a group, named or counted there.',
  }),
  expiredAt: NullableInstant,
  clearedAt: NullableInstant,
});
export type PanelReceipt = Static<typeof PanelReceipt>;

export const ClearAccepted = component('ClearAccepted', {
  ok: Type.Literal(true),
  id: Type.String({
    description: 'The notification that is cleared: the given one, or what stood in its place.',
  }),
  cleared: Type.Boolean({ description: 'false: it was on no panel any more.' }),
});

/** How a stream resumes: see `ready`. */
const resumeKinds = ['live', 'replayed', 'gap', 'reset'] as const;
export type ResumeKind = (typeof resumeKinds)[number];

/** The first event of every panel stream. */
export const ReadyEvent = Type.Object(
  {
    panel: Type.Object({
      id: Type.String(),
      name: Type.String(),
      tags: Type.Array(Type.String()),
      location: Location,
      display: DisplaySettings,
    }),
    tenant: Type.Object({ name: Type.String(), title: Type.String(), timeZone: Type.String() }),
    levels: Type.Array(Level),
    serverTime: Instant,
    heartbeatMs: Type.Integer(),
    epoch: Type.String(),
    head: Type.Integer(),
    resume: Type.Enum([...resumeKinds]),
  },
  { title: 'ReadyEvent' },
);
export type ReadyEvent = Static<typeof ReadyEvent>;

export const PairingCreated = component('PairingCreated', {
  code: Type.String(),
  secret: Type.String(),
  expiresAt: Instant,
});

/** What the waiting screen reads: the token is handed over once. */
export const PairingState = component('PairingState', {
  state: Type.Enum(['waiting', 'approved', 'collected']),
  expiresAt: Instant,
  token: Type.Optional(Type.String()),
  panel: Type.Optional(closed({ id: Type.String(), name: Type.String(), events: Type.String() })),
});

export const PairingApprove = component('PairingApprove', {
  panelId: Type.Optional(
    Type.String({ description: 'An existing panel; otherwise one is made, or taken by its name.' }),
  ),
  name: Type.Optional(PanelName),
  tags: Type.Optional(Tags),
  location: Type.Optional(Location),
});
export type PairingApprove = Static<typeof PairingApprove>;

/** What a person can have a connected panel do: flash its name, load its page anew, draw a test card. */
export const panelCommands = ['identify', 'reload', 'test'] as const;
export type PanelCommand = (typeof panelCommands)[number];

export const PanelCommanded = component('PanelCommanded', {
  ok: Type.Literal(true),
  reached: Type.Boolean({ description: 'false: it is not connected.' }),
  rings: Type.Optional(
    Type.Boolean({
      description:
        'Of the test alarm of a phone. false: it makes no sound there now, because of the quiet hours or the lowest level of the panel.',
    }),
  ),
});

/** What a panel should be showing now, the highest in rank first. */
export const PanelShowing = component('PanelShowing', {
  notifications: Type.Array(NotificationEvent),
  more: Type.Integer({ minimum: 0 }),
});
export type PanelShowing = Static<typeof PanelShowing>;

/** The events of a panel's stream besides `ready` and `notification`. */

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
    until: nullable(Instant, { description: 'When it is open again by itself.' }),
  },
  { title: 'AcknowledgeEvent' },
);
export type AcknowledgeEvent = Static<typeof AcknowledgeEvent>;

/** The notification `id` is open again: its acknowledgement was taken back, or its time is over. */
export const UnacknowledgeEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    position: Position,
    at: Instant,
    by: Type.String({ description: 'The name of a person, token or key; "belfry" when the time was over.' }),
  },
  { title: 'UnacknowledgeEvent' },
);
export type UnacknowledgeEvent = Static<typeof UnacknowledgeEvent>;

/** Take the notification `id` off until a time: `unshelve` brings it back. */
export const ShelveEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    position: Position,
    at: Instant,
    by: Type.String({ description: 'The name of a person, token or key.' }),
    note: nullable(Type.String()),
    until: Type.String({ format: 'date-time', description: 'When it comes back by itself.' }),
  },
  { title: 'ShelveEvent' },
);
export type ShelveEvent = Static<typeof ShelveEvent>;

/** Show the notification again; nobody has acknowledged it. */
export const UnshelveEvent = Type.Object(
  { ...UnacknowledgeEvent.properties, notification: NotificationEvent },
  { title: 'UnshelveEvent' },
);
export type UnshelveEvent = Static<typeof UnshelveEvent>;

/** Take the notification `id` off as long as the alarm `by` stands: `unsuppress` brings it back. */
export const SuppressEvent = Type.Object(
  {
    ...UnacknowledgeEvent.properties,
    by: Type.String({ format: 'uuid', description: 'A notification of the alarm that is its cause.' }),
  },
  { title: 'SuppressEvent' },
);
export type SuppressEvent = Static<typeof SuppressEvent>;

/** Show the notification again: nothing suppresses it any more. */
export const UnsuppressEvent = Type.Object(UnshelveEvent.properties, { title: 'UnsuppressEvent' });
export type UnsuppressEvent = Static<typeof UnsuppressEvent>;

/**
 * Alarms that are on no panel as long as the notification `id` stands; sent when their number or the first of them change. Not an
 * entry of the log: it has no position, and comes anew after each connection.
 */
export const SuppressesEvent = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'The notification that stands of the cause.' }),
    count: Type.Integer({
      minimum: 0,
      description:
        'How many of them would be on this panel, also those that another suppressed alarm suppresses. Of very many, not all are looked at: then some of other panels may be counted, or some of this one not.',
    }),
    alarms: Type.Array(
      Type.Object({
        id: Type.String({ format: 'uuid' }),
        level: Type.String(),
        title: Type.String(),
        host: nullable(Type.String()),
      }),
      { description: `The highest levels, then the newest, at most ${limits.suppressedNamed} of them.` },
    ),
  },
  { title: 'SuppressesEvent' },
);
export type SuppressesEvent = Static<typeof SuppressesEvent>;

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
