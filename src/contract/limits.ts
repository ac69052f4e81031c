/** The most a panel shows of its live set: the highest in rank, then the newest. The server sends one more, so that a screen knows that there are more. */
export const liveSet = 500;
export const labelNamePattern = /^[A-Za-z_][A-Za-z0-9_.-]{0,62}$/;

/** The sizes that senders and readers can meet. Characters are Unicode code points. */
export const limits = {
  titleChars: 250,
  messageChars: 16_384,
  levelPattern: /^[a-z0-9][a-z0-9_.-]{0,31}$/,
  customLevelsPerTenant: 200,
  ttlMaxMs: 604_800_000,
  expectMinMs: 1_000,
  expectMaxMs: 2_678_400_000,
  cronChars: 100,
  hostChars: 253,
  mappingsPerTenant: 100,
  /** Of the last payload of a mapping. */
  captureBytes: 65_536,
  keyChars: 255,
  labels: 32,
  labelNamePattern,
  labelValueChars: 255,
  /** On the cards of a panel. */
  cardLabels: 8,
  urlChars: 2_048,
  idempotencyKeyChars: 255,
  idempotencyMs: 24 * 3_600_000,
  /** So long an alert that is sent again in the same state is a repeat. */
  stateRepeatMs: 3_600_000,
  bodyBytes: 64 * 1024,
  headerBytes: 64 * 1024,
  headerPairs: 100,
  rulesPerTenant: 20_000,
  /** Of one rule. */
  instructionsChars: 4_000,
  /** Rules whose instructions a notification is answered with. */
  instructionsShown: 20,
  /** The instructions of all its rules in one text, as panels and channels get them. */
  instructionsTextChars: 16_000,
  /** Of all rules of a tenant together, as they are stored. */
  rulesBytesPerTenant: 16 * 1024 * 1024,
  /** Of the earlier versions of a tenant's rules together; beyond it, the oldest are deleted. At least one whole earlier set fits. */
  earlierRulesBytesPerTenant: 32 * 1024 * 1024,
  /**
   * The rules that match a notification, and the panels, tags and channels that they name. Once there are so many, no further rule is
   * tried. The rule that reaches it takes part as a whole, so there may be 1,050 more: the most that one rule names.
   */
  namesPerNotification: 2_000,
  /** Of a tenant's audit log; beyond it, the oldest entries are deleted before their year is over. */
  auditBytesPerTenant: 256 * 1024 * 1024,
  panelsPerTenant: 20_000,
  /** Of a tag of a panel, and so of a rule. */
  tagChars: 32,
  /** In force: neither revoked nor expired. Each panel has a token, and senders have theirs. As many ended ones are kept. */
  tokensPerTenant: 30_000,
  keysPerTenant: 1_000,
  /** That a person who creates another one may own. */
  tenantsPerOwner: 100,
  passkeysPerPerson: 25,
  /** A further sign-in ends the session that was not used for the longest time. */
  sessionsPerPerson: 100,
  channelsPerTenant: 50,
  onCallPerTenant: 50,
  /** Of all people of an on-call schedule together: the channels, panels and tags by which they are reached. */
  onCallNames: 100,
  /** Of the file of a calendar, and the events that are kept of it. */
  calendarBytes: 1024 * 1024,
  calendarEvents: 1_000,
  /** Of a channel of the kind push. */
  devicesPerChannel: 100,
  /** Deliveries of one channel that wait, and as many events of alarms; the oldest beyond it fail. */
  pendingPerChannel: 10_000,
  /** A delivery that has not gone through so long after its notification fails. */
  deliveryMs: 24 * 3_600_000,
  /** Finished deliveries that are kept, of each channel, and as many events of alarms; and for how long. */
  deliveryLog: 1_000,
  deliveryLogMs: 30 * 24 * 3_600_000,
  liveSet,
  /** Notifications of one tenant that stay on panels for longer than `stayingMs`. Beyond it, the oldest of the lowest rank leave. */
  stayingPerTenant: 20_000,
  stayingMs: 600_000,
  /** The most entries a panel is replayed; further behind, it gets a gap and the live set. */
  replayEntries: 10_000,
  historyPage: 200,
  auditPage: 200,
  alarmPage: 500,
  /** Alarms that one call changes. */
  alarmsAtOnce: 10_000,
  /** How long an alarm can be shelved, or its acknowledgement last: a year. */
  shelfMs: 366 * 24 * 3_600_000,
  /** Rules of a tenant with `then.suppress`: each is tested with every notification. */
  suppressRules: 50,
  /** Keys by which alarms of a tenant can suppress others at a time; what comes beyond it suppresses nothing. */
  suppressCauses: 2_000,
  /** Suppressed alarms that the event `suppresses` names for each cause. */
  suppressedNamed: 50,
  /** The shortest time that a level or rule gives an acknowledgement. */
  acknowledgeMinMs: 60_000,
  queryChars: 2_000,
  /** A search, count or completion answers with what it has found by then. */
  searchMs: 2_000,
} as const;
