/** Before the tests of running servers: the server is built from the sources as they are, as `npm start` does. */
import { join } from 'node:path';
import { ensureBuilt } from '#scripts/build.mjs';

export async function setup(): Promise<void> {
  await ensureBuilt('server', join(import.meta.dirname, '../..'), process.execPath, process.env);
}
