import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestServer } from '../support/server.ts';

async function takenPort(): Promise<string> {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  onTestFinished(() => void taken.close());
  return String((taken.address() as { port: number }).port);
}

test.each(['BELFRY_PORT', 'BELFRY_METRICS_PORT'])(
  'a server whose %s is taken leaves nothing behind: the next one on the same data starts',
  async (setting) => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-failing-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const port = await takenPort();
    await expect(TestServer.start({ [setting]: port }, folder)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const server = await TestServer.start({}, folder);
    expect((await server.call('GET', '/readyz')).status).toBe(200);
    await server.stop();
  },
);
