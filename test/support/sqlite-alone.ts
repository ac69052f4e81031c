/** Tests of SQLite only, each with the reason: they do not run with TEST_STORE=postgres. */
export const sqliteAlone: Readonly<Record<string, string>> = {
  'test/e2e/channels-kill.test.ts':
    'on PostgreSQL another node goes on after a minute, when the lease has run out; the conformance suite has leases',
  'test/e2e/cli-backup.test.ts': 'backup and restore are for the file of SQLite',
  'test/e2e/cli-migrate-progress.test.ts': 'copies from SQLite to SQLite; cli-migrate.test.ts does the rest',
  'test/e2e/damaged-pages.test.ts': 'damages pages of the file',
  'test/e2e/history-retention.test.ts':
    'opens SQLite itself, for partitions of its sizes; the conformance suite does the same on PostgreSQL',
  'test/e2e/pairing-life.test.ts':
    'needs no server; the directory is tested on PostgreSQL by its conformance suite',
  'test/e2e/notify-rate.test.ts':
    'sets the clock; nodes of PostgreSQL share limits by the clock of the database (nodes-limits.test.ts)',
  'test/e2e/notify-failed-auth.test.ts': 'as notify-rate.test.ts',
  'test/e2e/start-failing.test.ts': 'files, folders and locks of SQLite',
};

/** Tests that start a PostgreSQL or NATS server: they do not run with TEST_STORE=sqlite. */
export const needsPostgres: readonly string[] = [
  '**/*postgres*.test.ts',
  'test/conformance/bus.nats.test.ts',
  'test/e2e/{cli-migrate,nodes,nodes-limits}.test.ts',
  'test/torture/nodes/**',
];

/** Tests that every run repeats on PostgreSQL; all others run there with TEST_STORE=postgres. */
export const alsoOnPostgres: readonly string[] = [
  'test/e2e/history-{histogram,pages,query,values}.test.ts',
  'test/e2e/{channels,overview,panels-receipts,rules-recorded,tenants-contents}.test.ts',
  'test/e2e/phones{,-gotify,-resume}.test.ts',
  'test/e2e/streams-{begin,gap,pruned,resume}.test.ts',
];
