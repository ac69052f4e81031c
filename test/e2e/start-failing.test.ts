import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Cli } from '../support/cli.ts';
import { TestServer } from '../support/server.ts';

async function takenPort(): Promise<string> {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  onTestFinished(() => void taken.close());
  return String((taken.address() as { port: number }).port);
}

test('on a disk that takes no more, a start and commands end with one line that names the disk and what to do', async () => {
  const cli = new Cli();
  onTestFinished(() => cli.remove());
  await cli.token();
  // A limit of 8 KiB for each file stands for the disk: SQLite cannot make its files beside the database.
  const run = (...args: string[]) =>
    spawnSync('sh', ['-c', 'ulimit -f 16; exec "$0" dist/server/main.js "$@"', process.execPath, ...args], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        BELFRY_DATABASE_URL: `sqlite:${cli.database}`,
        BELFRY_MIN_FREE_BYTES: '0',
        BELFRY_PORT: '0',
        BELFRY_LOG_LEVEL: 'warn',
      },
    });
  for (const args of [['token', 'create', '--name', 'x'], ['token', 'list'], ['export'], ['serve']]) {
    const { status, stdout, stderr } = run(...args);
    expect({ args, status, stdout, stderr }).toEqual({
      ...{ args, status: 1, stdout: '' },
      stderr: expect.stringMatching(
        new RegExp(
          `^belfry: the disk of ${cli.database} is full or fails \\(SQLITE_IOERR_\\w+\\): make room on it.*\\n$`,
        ),
      ),
    });
  }
});

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
