import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { limitMs } from '../support/patience.ts';
import { endServers, ServerProcess } from '../support/server-process.ts';
import { ResumingPanel, readHistory } from '../torture/api-clients.ts';
import { machineEnvironment, readmeBlocks, Terminal } from './terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-main-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

/** What the README promises at its address, at ours. */
const at = (url: string, pasted: string) => pasted.replaceAll('http://127.0.0.1:8080', url);

test('the commands of the README start Belfry, send, show on a panel and search; a restart keeps everything; they can be pasted into one terminal', async () => {
  const [start = '', watch = '', send = '', search = ''] = readmeBlocks('Start');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const env = machineEnvironment({
    BELFRY_PORT: String(port),
    BELFRY_DATABASE_URL: `sqlite:${join(folder, 'belfry.db')}`,
    BELFRY_URL: url,
  });
  const token = 'npm run --silent belfry -- token create --tenant default --name ci';
  const key = 'npm run --silent belfry -- key create --tenant default --role viewer --name ci';

  const first = await ServerProcess.run(start.trim().split(' '), env);
  const ci = (await Terminal.run(token, env)).trim();
  const viewer = (await Terminal.run(key, env)).trim();
  expect(ci).toMatch(/^bfy_[0-9A-Za-z_]+$/);
  const panel = new ResumingPanel('wall');
  await panel.connect(url, ci);
  const tail = new Terminal(at(url, watch), env);

  const answers = await Terminal.run(at(url, send), env);
  const ids = [...answers.matchAll(/\{"ok":true,"id":"([0-9a-f-]{36})"\}/g)].map(([, id]) => id);
  expect(ids, answers).toHaveLength(2);
  const titles = ['Disk almost full', 'Nightly backup'];
  await panel.reached(2);
  expect(panel.log(2).seen).toEqual(titles.map((name, i) => ({ position: i + 1, name })));
  for (const title of titles) await tail.printed(new RegExp(title));
  const recorded = titles.map((name, i) => ({ position: i + 1, name, id: ids[i] }));
  expect(await readHistory(url, viewer)).toEqual(recorded.toReversed());
  const found = JSON.parse(await Terminal.run(at(url, search), env)) as {
    notifications: { title: string }[];
  };
  expect(found.notifications.map(({ title }) => title)).toEqual(['Disk almost full']);
  await tail.close();

  expect(await first.end('SIGTERM'), first.output).toEqual({ code: 0, signal: null });
  await panel.ended;
  expect(panel.events.get('bye')).toBe(1);

  const second = await ServerProcess.run(start.trim().split(' '), env);
  console.log(
    `npm start to ready: ${Math.round(first.readyMs)} ms, then ${Math.round(second.readyMs)} ms on the same data`,
  );
  expect(second.readyMs).toBeLessThan(limitMs(5_000));
  expect(await readHistory(url, viewer)).toEqual(recorded.toReversed());
  expect(await panel.connect(url, ci)).toMatchObject({ resume: 'replayed', head: 2 });
  await Terminal.run(
    `curl -sf ${url}/api/notify -H "Authorization: Bearer ${ci}" -d '{"title":"After","message":"the restart"}'`,
    env,
  );
  await panel.reached(3);
  expect(panel.log(3).seen.map(({ name }) => name)).toEqual([...titles, 'After']);

  const next = 'npm run --silent belfry -- token list --tenant default';
  const printed = await Terminal.run(`set -e\n${at(url, send)}\n${at(url, search)}\n${next}\n`, env);
  expect(printed).toContain('Disk almost full');
  expect(printed).toMatch(/^\S.*\bcurl\b.*$/m);
  expect(await second.end('SIGTERM'), second.output).toEqual({ code: 0, signal: null });
});
