import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '#test/support/free-port.ts';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { ResumingPanel } from '../api-clients.ts';
import { report } from '../report.ts';
import { Image, missingBuilder } from './image.ts';

const missing = skipReason(missingBuilder());

describe.skipIf(missing !== undefined)(
  `the container image${missing === undefined ? '' : `: ${missing}`}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-image-'));
    let image: Image;
    beforeAll(() => {
      image = Image.build(folder);
    }, 900_000);
    afterAll(async () => {
      await endServers();
      rmSync(folder, { recursive: true, force: true });
    });

    test('serves as one process that is not root and can write to /data alone; what was sent is there after a restart', async () => {
      const port = await freePort();
      const settings = { BELFRY_HOST: '127.0.0.1', BELFRY_PORT: String(port) };
      const { Entrypoint, Cmd, Healthcheck } = image.config;
      const health = Healthcheck.Test.slice(1);
      expect(image.run(health, settings).status).toBe(1);
      const serve = image.command([...Entrypoint, ...Cmd], settings);
      const first = await ServerProcess.run(serve, process.env);
      expect(image.run(health, settings)).toMatchObject({ status: 0, stderr: '' });

      const status = readFileSync(`/proc/${first.pid}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\t10001\t10001\t10001\t10001$/m);
      expect(status).toMatch(/^CapEff:\t0+$/m);
      expect(readFileSync(`/proc/${first.pid}/task/${first.pid}/children`, 'utf8')).toBe('');
      expect(image.run(['touch', '/opt/belfry/x']).stderr).toContain('Read-only file system');
      expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);

      const token = image.run(['belfry', 'token', 'create', '--name', 'ci'], settings).stdout.trim();
      const panel = new ResumingPanel('wall');
      await panel.connect(first.url, token);
      const sent = image.run(['belfry', 'send', 'Disk almost full', '/var is at 91 %'], {
        BELFRY_URL: first.url,
        BELFRY_TOKEN: token,
      });
      expect(sent, sent.stderr).toMatchObject({ status: 0 });
      await panel.reached(1);
      expect(panel.log(1).seen).toEqual([{ position: 1, name: 'Disk almost full' }]);
      expect((await fetch(`${first.url}/panel`)).status).toBe(200);
      expect(await first.end('SIGTERM'), first.output).toEqual({ code: 0, signal: null });
      await panel.ended;

      const second = await ServerProcess.run(serve, process.env);
      expect(await panel.connect(second.url, token)).toMatchObject({ resume: 'replayed', head: 1 });
      expect(await second.end('SIGTERM')).toEqual({ code: 0, signal: null });
      await panel.ended;
      report({
        promise: 'the container image runs as it is',
        method:
          'built by buildah, run in a chroot whose root is read-only, as its own user, without privileges',
        count: '1 image, 2 starts',
        result: `ready after ${Math.round(first.readyMs)} ms, then ${Math.round(second.readyMs)} ms; sent, shown, and there after the restart`,
      });
    });
  },
);
