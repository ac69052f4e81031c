import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { patienceMs } from './test/support/patience.ts';
import { SlowestFirst } from './test/support/slowest-first.ts';
import { alsoOnPostgres, needsPostgres, sqliteAlone } from './test/support/sqlite-alone.ts';
import { full } from './test/torture/counts.ts';

// A developer's own settings (a database URL above all) must never reach a test's server.
for (const name of Object.keys(process.env)) {
  if (name.startsWith('BELFRY_')) delete process.env[name];
}

// As `npm test` has it: what Node compiled once is compiled no more, in workers, servers and commands.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules', '.cache', 'node-compile');

/**
 * A worker keeps its process for all its files: loading the server anew took as long as most files' tests. Node itself
 * strips the types, as it does for the server. So a file must end what it starts and take back what it replaces.
 */
const shared = {
  pool: 'forks',
  isolate: false,
  // More than there are cores: many tests wait for the disk or a clock.
  maxWorkers: Math.ceil(2.5 * Math.max(2, availableParallelism())),
  experimental: { viteModuleRunner: false, nodeLoader: false },
  setupFiles: 'test/support/keep-notes.ts',
  expect: { poll: { timeout: patienceMs } },
  // Time limits only end what hangs: they leave room for a machine several times as slow. What has to be soon, its test measures.
  testTimeout: 600_000,
  hookTimeout: 600_000,
} as const;

/**
 * `TEST_STORE=postgres npm test -- --project e2e` runs the tests of a running server on PostgreSQL, `TEST_STORE=sqlite npm test`
 * all tests that need no PostgreSQL.
 */
const store = process.env.TEST_STORE;
const withoutPostgres = store === 'sqlite' ? needsPostgres : [];
const notOnThisStore = store === 'postgres' ? Object.keys(sqliteAlone) : withoutPostgres;

export default defineConfig({
  test: {
    reporters: ['default'],
    sequence: { sequencer: SlowestFirst },
    pool: 'forks',
    globalSetup: `test/support/postgres-${process.env.TEST_STORE === 'postgres' ? 'store-' : ''}setup.ts`,
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'test/architecture.test.ts',
            'test/security-table.test.ts',
            'test/conformance/**/*.test.ts',
          ],
          ...(withoutPostgres.length > 0 && { exclude: [...withoutPostgres] }),
        },
      },
      {
        test: {
          ...shared,
          name: 'e2e',
          globalSetup: 'test/support/built-server.ts',
          include: ['test/e2e/**/*.test.ts', 'test/torture/**/*.test.ts', 'test/start.test.ts'],
          // What only measures, and what takes long: `npm run torture` runs it.
          exclude: [...(full ? [] : ['test/torture/**/*.full.test.ts']), ...notOnThisStore],
        },
      },
      {
        test: {
          ...shared,
          name: 'e2e-postgres',
          include: store === 'sqlite' ? [] : [...alsoOnPostgres],
          env: { TEST_STORE: 'postgres' },
          globalSetup: 'test/support/postgres-store-setup.ts',
        },
      },
      {
        test: {
          ...shared,
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: 'test/browser/setup.ts',
        },
      },
    ],
  },
});
