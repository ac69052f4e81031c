/** The sizes that senders and readers can meet. Characters are Unicode code points. */
export const limits = {
  titleChars: 250,
  messageChars: 16_384,
  levelPattern: /^[a-z0-9][a-z0-9_.-]{0,31}$/,
  customLevelsPerTenant: 200,
  ttlMaxMs: 604_800_000,
  expectMinMs: 1_000,
  expectMaxMs: 2_678_400_000,
  hostChars: 253,
  mappingsPerTenant: 100,
  /** Of the last payload of a mapping. */
  captureBytes: 65_536,
  keyChars: 255,
  urlChars: 2_048,
  idempotencyKeyChars: 255,
  idempotencyMs: 24 * 3_600_000,
  /** So long an alert that is sent again in the same state is a repeat. */
  stateRepeatMs: 3_600_000,
  bodyBytes: 64 * 1024,
  headerBytes: 64 * 1024,
  headerPairs: 100,
  nameChars: 100,
  rulesPerTenant: 20_000,
  panelsPerTenant: 20_000,
  channelsPerTenant: 50,
  /** Of a channel of the kind push. */
  devicesPerChannel: 100,
  /** Deliveries of one channel that wait; the oldest beyond it fail. */
  pendingPerChannel: 10_000,
  /** A delivery that has not gone through so long after its notification fails. */
  deliveryMs: 24 * 3_600_000,
  /** Finished deliveries that are kept, of each channel, and for how long. */
  deliveryLog: 1_000,
  deliveryLogMs: 30 * 24 * 3_600_000,
  /** The most a panel is sent as its live set: the highest in rank, then the newest. */
  liveSet: 500,
  /** The most entries a panel is replayed; further behind, it gets a gap and the live set. */
  replayEntries: 10_000,
  historyPage: 200,
  auditPage: 200,
  queryChars: 2_000,
  /** A search, count or completion answers with what it has found by then. */
  searchMs: 2_000,
} as const;
