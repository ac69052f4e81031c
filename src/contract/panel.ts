import { type Static, Type } from 'typebox';
import { Level } from './level.ts';
import { NotificationEvent } from './notification.ts';

const PanelName = Type.String({ minLength: 1, maxLength: 100, pattern: '^\\S(.*\\S)?$' });
const Tag = Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,31}$' });
const Tags = Type.Array(Tag, { maxItems: 50, uniqueItems: true });
const Location = Type.Union([Type.String({ maxLength: 200 }), Type.Null()]);

/** How a panel draws; each is optional and the panel page has a default for it. */
export const DisplaySettings = Type.Object(
  {
    scheme: Type.Optional(Type.Enum(['dark', 'light', 'auto'])),
    minLevel: Type.Optional(Type.String({ maxLength: 32 })),
    maxCards: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    scale: Type.Optional(Type.Number({ minimum: 0.5, maximum: 4 })),
    sound: Type.Optional(Type.Boolean()),
    quietFrom: Type.Optional(Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' })),
    quietUntil: Type.Optional(Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' })),
    dimFrom: Type.Optional(Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' })),
    dimUntil: Type.Optional(Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$' })),
    timeZone: Type.Optional(Type.String({ maxLength: 64 })),
    locale: Type.Optional(Type.String({ maxLength: 35 })),
    alertWhenLostMs: Type.Optional(
      Type.Integer({
        minimum: 5_000,
        maximum: 604_800_000,
        description:
          'Belfry sends a notification when no screen of the panel has been connected for so long.',
      }),
    ),
  },
  { title: 'DisplaySettings', additionalProperties: false },
);
export type DisplaySettings = Static<typeof DisplaySettings>;

export const PanelRegister = Type.Object(
  { name: PanelName, tags: Type.Optional(Tags), location: Type.Optional(Location) },
  { title: 'PanelRegister', additionalProperties: false },
);
export type PanelRegister = Static<typeof PanelRegister>;

export const PanelPatch = Type.Partial(
  Type.Object({ name: PanelName, tags: Tags, location: Location, display: DisplaySettings }),
  { title: 'PanelPatch', additionalProperties: false },
);
export type PanelPatch = Static<typeof PanelPatch>;

export const Panel = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    tags: Type.Array(Type.String()),
    location: Location,
    display: DisplaySettings,
    events: Type.String({ description: 'Path of its event stream.' }),
    createdAt: Type.String({ format: 'date-time' }),
    online: Type.Boolean({ description: 'Its event stream is connected.' }),
    lastSeenAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    lag: Type.Integer({ minimum: 0, description: 'Entries of the log not yet sent to it.' }),
    version: Type.Union([Type.String(), Type.Null()], {
      description: 'What its newest screen says it is, as in panel/0.1.0.',
    }),
    address: Type.Union([Type.String(), Type.Null()], {
      description: 'Where its newest screen is connected from, or was.',
    }),
  },
  { title: 'Panel', additionalProperties: false },
);
export type Panel = Static<typeof Panel>;

export const PanelList = Type.Object(
  { panels: Type.Array(Panel) },
  { title: 'PanelList', additionalProperties: false },
);

export const receiptStates = ['shown', 'expired', 'cleared'] as const;

/** A panel's word on what became of a notification; `at` is the panel's clock, corrected by the server's time. */
export const Receipts = Type.Array(
  Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      state: Type.Enum([...receiptStates]),
      at: Type.Union([
        Type.String({ format: 'date-time' }),
        Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description: 'Unix milliseconds.' }),
      ]),
    },
    { additionalProperties: false },
  ),
  { title: 'Receipts', maxItems: 1000 },
);
export type Receipts = Static<typeof Receipts>;

export const ReceiptsAccepted = Type.Object(
  {
    ok: Type.Literal(true),
    recorded: Type.Integer({
      description: 'Receipts of notifications routed to this panel; others are ignored.',
    }),
  },
  { title: 'ReceiptsAccepted', additionalProperties: false },
);

export const PanelReceipt = Type.Object(
  {
    panel: Type.Object({ id: Type.String(), name: Type.String() }, { additionalProperties: false }),
    online: Type.Boolean(),
    sent: Type.Boolean({ description: 'Its stream has passed this position.' }),
    hidden: Type.Boolean({ description: 'Its settings, as they are now, hide this level: minLevel.' }),
    shownAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    expiredAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    clearedAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  },
  { title: 'PanelReceipt', additionalProperties: false },
);
export type PanelReceipt = Static<typeof PanelReceipt>;

export const ClearAccepted = Type.Object(
  { ok: Type.Literal(true), cleared: Type.Boolean({ description: 'false: it was on no panel any more.' }) },
  { title: 'ClearAccepted', additionalProperties: false },
);

/** How a stream resumes: see `ready`. */
export const resumeKinds = ['live', 'replayed', 'gap', 'reset'] as const;
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
    serverTime: Type.String({ format: 'date-time' }),
    heartbeatMs: Type.Integer(),
    epoch: Type.String(),
    head: Type.Integer(),
    resume: Type.Enum([...resumeKinds]),
  },
  { title: 'ReadyEvent' },
);
export type ReadyEvent = Static<typeof ReadyEvent>;

export const PairingCreated = Type.Object(
  { code: Type.String(), secret: Type.String(), expiresAt: Type.String({ format: 'date-time' }) },
  { title: 'PairingCreated', additionalProperties: false },
);

/** What the waiting screen reads: the token is handed over once. */
export const PairingState = Type.Object(
  {
    state: Type.Enum(['waiting', 'approved', 'collected']),
    expiresAt: Type.String({ format: 'date-time' }),
    token: Type.Optional(Type.String()),
    panel: Type.Optional(
      Type.Object(
        { id: Type.String(), name: Type.String(), events: Type.String() },
        { additionalProperties: false },
      ),
    ),
  },
  { title: 'PairingState', additionalProperties: false },
);

export const PairingApprove = Type.Object(
  {
    panelId: Type.Optional(
      Type.String({ description: 'An existing panel; otherwise one is made, or taken by its name.' }),
    ),
    name: Type.Optional(PanelName),
    tags: Type.Optional(Tags),
    location: Type.Optional(Location),
  },
  { title: 'PairingApprove', additionalProperties: false },
);
export type PairingApprove = Static<typeof PairingApprove>;

/** What a person can have a connected panel do: flash its name, load its page anew, draw a test card. */
export const panelCommands = ['identify', 'reload', 'test'] as const;
export type PanelCommand = (typeof panelCommands)[number];

export const PanelCommanded = Type.Object(
  { ok: Type.Literal(true), reached: Type.Boolean({ description: 'false: it is not connected.' }) },
  { title: 'PanelCommanded', additionalProperties: false },
);

/** What a panel should be showing now, the highest in rank first. */
export const PanelShowing = Type.Object(
  { notifications: Type.Array(NotificationEvent), more: Type.Integer({ minimum: 0 }) },
  { title: 'PanelShowing', additionalProperties: false },
);
export type PanelShowing = Static<typeof PanelShowing>;
