/** Before all tests, creates a folder for the shared PostgreSQL of the run; after them, stops it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Several projects may call it; the first call creates the folder. */
export async function setup(): Promise<() => void> {
  if (process.env.TEST_POSTGRES_FOLDER !== undefined) return () => undefined;
  const folder = mkdtempSync(join(tmpdir(), 'belfry-run-'));
  process.env.TEST_POSTGRES_FOLDER = folder;
  return () => {
    const started = join(folder, 'started');
    if (existsSync(started)) {
      const { folder: data, pid } = JSON.parse(readFileSync(started, 'utf8')) as {
        folder: string;
        pid: number;
      };
      try {
        process.kill(pid, 'SIGQUIT');
      } catch {
        // It has ended by itself.
      }
      rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
    rmSync(folder, { recursive: true, force: true });
  };
}
