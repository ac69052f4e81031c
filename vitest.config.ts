import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';
import { patienceMs } from './test/support/patience.ts';

// A developer's own settings (a database URL above all) must never reach a test's server.
for (const name of Object.keys(process.env)) {
  if (name.startsWith('BELFRY_')) delete process.env[name];
}

const poll = { timeout: patienceMs };

// Time limits only end what hangs: they leave room for a machine several times as slow. What has to be soon, its test measures.
export default defineConfig({
  test: {
    reporters: ['default', new ClosingLine()],
    pool: 'forks',
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'test/architecture.test.ts',
            'test/security-table.test.ts',
            'test/conformance/**/*.test.ts',
          ],
          pool: 'forks',
          expect: { poll },
          testTimeout: 30_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'test/torture/**/*.test.ts', 'test/start.test.ts'],
          pool: 'forks',
          expect: { poll },
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          globalSetup: 'test/browser/setup.ts',
          pool: 'forks',
          expect: { poll },
          testTimeout: 180_000,
          hookTimeout: 180_000,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
