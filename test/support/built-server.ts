/** Builds the server from the current sources, as `npm start` does, before tests that run it. */
import { join } from 'node:path';
import { ensureBuilt } from '#scripts/build.mjs';

export async function setup(): Promise<void> {
  await ensureBuilt('server', join(import.meta.dirname, '../..'), process.execPath, process.env);
}
