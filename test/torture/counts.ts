/**
 * How often each torture is repeated: `short` in `npm test`, `full` in `npm run torture`, which sets TORTURE_SHARE to 1, or
 * to the share of the full counts that it was asked for.
 */
const counts = {
  /** Processes killed under load. */
  kills: { short: 25, full: 1_000 },
  /** Processes killed under load, and how soon each is back. */
  readyAgain: { short: 4, full: 100 },
  /** Power cuts under load. */
  cuts: { short: 6, full: 200 },
  /** Servers told to stop under load. */
  drains: { short: 3, full: 200 },
  /** Answers watched for the fsync before them. */
  answers: { short: 200, full: 10_000 },
  /** Times that a disk fills up, of each kind of disk. */
  faults: { short: 1, full: 20 },
  /** System calls that fail, of each kind. */
  flaws: { short: 4, full: 100 },
  /** Damaged copies of a write-ahead log. */
  damages: { short: 24, full: 400 },
  /** Streams that are broken off five times each. */
  streams: { short: 60, full: 10_000 },
  /** Panels behind a network that drops packets. */
  blackHoled: { short: 30, full: 500 },
  /** Panels that come back all at once after a restart. */
  herd: { short: 100, full: 5_000 },
  /** Panels that stall, and as many that read a byte a second. */
  stalled: { short: 4, full: 200 },
  /** MiB published past them. */
  publishedMib: { short: 8, full: 128 },
  /** Seconds under each kind of overload. */
  overloadSeconds: { short: 1, full: 30 },
  /** Requests made up from the OpenAPI document, and requests with broken bytes. */
  fuzzedRequests: { short: 3_000, full: 900_000 },
  brokenRequests: { short: 1_000, full: 100_000 },
  /** Clients that take their time, of each kind. */
  slowClients: { short: 20, full: 400 },
  /** Messages of 16 kB for slow readers. */
  messagesToRead: { short: 200, full: 2_000 },
  /** Searches that may be none. */
  searches: { short: 1_000, full: 10_000 },
  /** Requests and streams of three tenants at once, in rounds. */
  tenantRounds: { short: 1, full: 25 },
  /** Rows of the database that is upgraded, and kills on the way. */
  upgradedRows: { short: 5_000, full: 1_000_000 },
  upgradeKills: { short: 3, full: 20 },
  /** Nodes killed under load, PostgreSQL stopped immediately, synchronous standbys promoted, and a NATS server restarted. */
  nodeKills: { short: 2, full: 100 },
  postgresStops: { short: 2, full: 50 },
  promotions: { short: 1, full: 20 },
  natsRestarts: { short: 2, full: 50 },
  /** Seconds of load at 1,000 a second while backups are taken. */
  backupSeconds: { short: 2, full: 60 },
} as const;

const share = Number(process.env.TORTURE_SHARE ?? 0);
if (!(share >= 0 && share <= 1))
  throw new Error(
    `TORTURE_SHARE is ${process.env.TORTURE_SHARE}: set it to a share of the full counts, from 0 to 1`,
  );

/** Whether this is more than the short form. */
export const full = share > 0;

export function countOf(name: keyof typeof counts): number {
  const { short, full: most } = counts[name];
  return Math.max(short, Math.round(most * share));
}

/** `ms` is several times what the short form takes alone on two cores; beside other work it takes a multiple of that again. */
const besideOthers = 4;

/** A test's time limit, which only ends what hangs. In the full form each step has its own, and together they may take hours. */
export const timeLimit = (ms: number) => (full ? Math.max(ms, 3 * 3_600_000) : besideOthers * ms);
