/** The commands of docs/postgresql.md that back PostgreSQL up and restore it, each run as it stands there. */
import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openStorage } from '#server/app.ts';
import { createLogger } from '#server/log.ts';
import { readConfig } from '#settings/config.ts';
import { eventually } from '#test/support/eventually.ts';
import {
  findPostgres,
  missingPostgres,
  otherUser,
  startMs,
  startPostgres,
  type TestPostgres,
  withClient,
} from '#test/support/postgres.ts';
import { endServers, root, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { addCredential } from '#test/support/storage.ts';
import { ResumingPanel, readHistory } from '../api-clients.ts';
import { report } from '../report.ts';

const missing = skipReason(missingPostgres());
const folder = mkdtempSync(join(tmpdir(), 'belfry-recovery-'));
afterAll(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

/** The blocks of the guide, in their order; where it has other paths, names and times than this test, they are replaced. */
const [dump = '', archiving = '', baseBackup = '', goBack = ''] = guideBlocks();

function guideBlocks(): string[] {
  const guide = readFileSync(join(root, 'docs/postgresql.md'), 'utf8');
  const section = /^## Back up and restore\n(.*?)^## /ms.exec(guide)?.[1] ?? '';
  return Array.from(section.matchAll(/^```(?:sh|ini)\n(.*?)^```/gms), ([, text = '']) => text);
}

function inPlace(text: string, replacements: readonly (readonly [string | RegExp, string])[]): string {
  return replacements.reduce((result, [from, to]) => {
    if (result.search(from) < 0) throw new Error(`the guide does not have ${from} any more:\n${result}`);
    return result.replaceAll(from instanceof RegExp ? new RegExp(from, 'g') : from, to);
  }, text);
}

/** Runs a block as the operator of PostgreSQL does: in a shell, as the server's own user. */
function run(block: string, { url }: TestPostgres): void {
  const { hostname, port, username } = new URL(url);
  const own = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: 'postgres' };
  const env = { ...process.env, ...own, PATH: `${findPostgres()}:${process.env.PATH}` };
  const { status, stderr } = spawnSync('sh', ['-e', '-c', block], {
    ...otherUser(),
    env,
    cwd: '/',
    encoding: 'utf8',
  });
  expect(status, `${block}\n${stderr}`).toBe(0);
}

/** As postgresql.conf has them. */
function settingsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/^(\w+) = (?:'(.*)'|(\w+))$/gm), ([, name = '', quoted, plain]) => [
      name,
      quoted ?? plain ?? '',
    ]),
  );
}

test.skipIf(missing !== undefined)(
  `the commands of the guide restore PostgreSQL to a moment, and from a dump${missing === undefined ? '' : `: ${missing}`}`,
  { timeout: 2 * startMs },
  async () => {
    const backups = mkdtempSync(join(tmpdir(), 'belfry-backups-'));
    onTestFinished(() => rmSync(backups, { recursive: true, force: true }));
    mkdirSync(join(backups, 'wal'));
    const user = otherUser();
    if (user) for (const path of [backups, join(backups, 'wal')]) chownSync(path, user.uid, user.gid);
    const toBackups = ['/var/backups', backups] as const;

    const postgres = await startPostgres({
      durable: true,
      settings: settingsOf(inPlace(archiving, [toBackups])),
    });
    onTestFinished(() => postgres.stop());
    await withClient(postgres.url, (client) => client.query('CREATE DATABASE belfry OWNER belfry_server'));
    const url = postgres.url.replace(/\/\/.*@/, '//belfry_server@').replace(/\/postgres$/, '/belfry');
    const { token, key } = await makeCredentials(url);
    let node = await startNode(url);
    // The guide says to stop all nodes; this one was forgotten.
    const forgotten = await startNode(url);
    const panels = [new ResumingPanel('wall'), new ResumingPanel('of the forgotten node')] as const;
    const before = await panels[0].connect(node.url, token);
    await panels[1].connect(forgotten.url, token);

    await send(node, token, 'before the backup');
    run(inPlace(baseBackup, [toBackups]), postgres);
    await send(node, token, 'after the backup');
    const moment = await withClient(postgres.url, async (client) => {
      const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
      return rows[0]?.now ?? '';
    });
    await send(node, token, 'the mistake');
    for (const panel of panels) await panel.reached(3);
    await node.end('SIGTERM');
    await panels[0].ended;

    const restored = join(postgres.folder, 'restored');
    const goBackHere = inPlace(goBack, [
      toBackups,
      ['/var/lib/postgresql/restored', restored],
      [/\d{4}-\d\d-\d\d [\d:+]+/, moment],
    ]);
    await postgres.restart(async () => {
      run(goBackHere, postgres);
      renameSync(join(postgres.folder, 'data'), join(postgres.folder, 'kept'));
      renameSync(restored, join(postgres.folder, 'data'));
    }, 'SIGINT');
    await eventually(async () => {
      const { rows } = await withClient(postgres.url, (client) =>
        client.query('SELECT pg_is_in_recovery() AS is'),
      );
      expect(rows).toEqual([{ is: false }]);
    });

    node = await startNode(url);
    const after = await panels[0].connect(node.url, token);
    expect(after.epoch).not.toBe(before.epoch);
    expect(after.resume).not.toBe('replayed');
    await panels[1].ended;
    const ofForgotten = await eventually(() => panels[1].connect(forgotten.url, token));
    expect(ofForgotten.epoch).toBe(after.epoch);
    const kept = ['before the backup', 'after the backup'];
    expect((await readHistory(node.url, key)).map(({ name }) => name)).toEqual(expect.arrayContaining(kept));
    expect(await readHistory(node.url, key)).toHaveLength(2);
    await send(node, token, 'goes on');
    for (const panel of panels) await panel.reached(3);

    for (const each of [node, forgotten]) await each.end('SIGTERM');
    run(inPlace(dump, [toBackups, ['--owner belfry ', '--owner belfry_server ']]), postgres);
    node = await startNode(url);
    const fromDump = await panels[0].connect(node.url, token);
    expect([before.epoch, after.epoch]).not.toContain(fromDump.epoch);
    expect((await readHistory(node.url, key)).map(({ name }) => name)).toEqual(
      expect.arrayContaining([...kept, 'goes on']),
    );
    report({
      promise: 'PostgreSQL: point-in-time recovery and pg_dump by the commands of the guide',
      method: 'each block of docs/postgresql.md in a shell, two nodes and their panels beside it',
      count: '1 recovery to a moment, 1 dump restored',
      result:
        'what came before the moment is there, what came after is not; each time a new epoch, also on a node that ran on',
    });
  },
);

async function makeCredentials(url: string): Promise<{ token: string; key: string }> {
  const logger = createLogger({ level: 'silent', format: 'json' });
  const { directory, close } = await openStorage(readConfig({ BELFRY_DATABASE_URL: url }), logger, 'command');
  try {
    const tenant = (await directory.tenants.findByName('default'))?.id ?? 0;
    return {
      token: await addCredential(directory, 'token', tenant, { scopes: ['notify', 'panel'] }),
      key: await addCredential(directory, 'key', tenant, { role: 'admin' }),
    };
  } finally {
    await close();
  }
}

function startNode(url: string): Promise<ServerProcess> {
  return ServerProcess.start({
    folder,
    env: { BELFRY_DATABASE_URL: url, BELFRY_KEY_FILE: join(folder, 'belfry.key') },
  });
}

async function send(node: ServerProcess, token: string, title: string): Promise<void> {
  const response = await fetch(`${node.url}/api/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title, message: 'text', ttl: 0 }),
  });
  expect(response.status).toBe(200);
}
