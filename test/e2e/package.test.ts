/** The package as `npm pack` makes it, installed in an empty folder, as its users have it. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { scanModule } from '../support/module-scanner.ts';
import { endServers, root, ServerProcess } from '../support/server-process.ts';
import { machineEnvironment, Terminal } from './terminal.ts';

const home = mkdtempSync(join(tmpdir(), 'belfry-package-'));
const app = join(home, 'app');
const installed = join(app, 'node_modules/belfry');
const { PATH = '' } = machineEnvironment({});
/** A machine with the Node that Belfry needs. */
const env = machineEnvironment({ PATH: [dirname(process.execPath), PATH].join(delimiter) });
/** Runs in the folder that has the package. */
const run = (command: string, own: NodeJS.ProcessEnv = {}) =>
  Terminal.run(`cd ${app} && ${command}`, { ...env, ...own });

beforeAll(async () => {
  mkdirSync(app);
  await Terminal.run(`npm pack --pack-destination ${home}`, env);
  await run('npm init --yes && npm install --no-audit --no-fund ../belfry-*.tgz');
});
afterAll(async () => {
  await endServers();
  rmSync(home, { recursive: true, force: true });
});

const files = () =>
  readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(installed.length + 1));

test('has the server, the pages and the migrations, and no source', () => {
  const all = files();
  for (const file of [
    'LICENSE',
    'README.md',
    'dist/server/main.js',
    'dist/server/licenses.md',
    'dist/client/client.js',
    'dist/web/panel/index.html',
    'dist/web/dashboard/index.html',
  ])
    expect(all).toContain(file);
  const migrations = (folder: string) => readdirSync(join(folder)).filter((name) => name.endsWith('.sql'));
  for (const store of ['sqlite', 'postgres'])
    expect(migrations(join(installed, 'dist/server/storage', store, 'migrations'))).toEqual(
      migrations(join(root, 'src/storage', store, 'migrations')),
    );
  expect(all.filter((file) => /(?<!\.d)\.tsx?$|\.test\.|^src\//.test(file))).toEqual([]);
});

test('says which version and commit it was built from', async () => {
  const wanted = existsSync(join(root, '.git')) ? / \([0-9a-f]{12}(-changed)?\)\n$/ : /^[\d.]+\n$/;
  expect(await run('node_modules/.bin/belfry --version')).toMatch(wanted);
});

test('is installed without build tools: no package runs a script at its installation, here or in the checkout', () => {
  const packagesIn = (lock: string) =>
    (
      JSON.parse(readFileSync(lock, 'utf8')) as {
        packages: Record<string, { hasInstallScript?: boolean }>;
      }
    ).packages;
  const packages = packagesIn(join(app, 'node_modules/.package-lock.json'));
  const all = { ...packages, ...packagesIn(join(root, 'package-lock.json')) };
  expect(Object.keys(all).length).toBeGreaterThan(100);
  expect(Object.entries(all).filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
  expect(Object.keys(packages)).not.toContain('node_modules/vite');
  expect(Object.keys(packages)).not.toContain('node_modules/typescript');
});

test('finds every module that it may ever load', () => {
  const scripts = readdirSync(join(installed, 'dist/server')).filter((name) => name.endsWith('.js'));
  const loaded = new Set(
    scripts.flatMap((name) =>
      scanModule(readFileSync(join(installed, 'dist/server', name), 'utf8')).imports.map(
        ({ specifier = '' }) => specifier,
      ),
    ),
  );
  const packages = [...loaded]
    .filter((specifier) => /^[a-z@]/.test(specifier) && !isBuiltin(specifier))
    .map((specifier) => /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier);
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const declared = Object.keys(dependencies);
  expect(packages.filter((name) => !declared.includes(name))).toEqual([]);
  const texts = scripts.map((name) => readFileSync(join(installed, 'dist/server', name), 'utf8'));
  expect(
    declared.filter(
      (name) => !texts.some((text) => text.includes(`("${name}")`) || text.includes(`from "${name}"`)),
    ),
  ).toEqual([]);
  for (const specifier of [...loaded].filter((each) => /^\.\/.*\.js$/.test(each)))
    expect(files()).toContain(join('dist/server', specifier));
});

test('serves, sends, shows the pages and searches', async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const own = { ...env, BELFRY_PORT: String(port), BELFRY_HOST: '127.0.0.1', BELFRY_URL: url };
  const command = ['sh', '-c', `cd ${app} && exec npx belfry serve`];
  const server = await ServerProcess.run(command, own);
  console.log(`npx belfry serve to ready: ${Math.round(server.readyMs)} ms`);
  const token = (await run('node_modules/.bin/belfry token create --name ci', own)).trim();
  const key = (await run('node_modules/.bin/belfry key create --role viewer --name me', own)).trim();
  await run('npx belfry send "Disk almost full" "/var is at 91 %"', { ...own, BELFRY_TOKEN: token });
  const search = await fetch(`${url}/api/history?q=disk`, { headers: { authorization: `Bearer ${key}` } });
  expect(await search.json()).toMatchObject({ notifications: [{ title: 'Disk almost full' }] });
  for (const page of ['/', '/panel']) {
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await fetch(url + page)).text())?.[1];
    expect((await fetch(url + script)).status).toBe(200);
  }
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200);
  expect((await fetch(`${url}/docs/`)).status).toBe(200);
  // npx passes no signal on; one from the keyboard reaches the server itself.
  process.kill(Number(/"pid":(\d+)/.exec(server.output)?.[1]), 'SIGTERM');
  expect(await server.exited, server.output).toMatchObject({ code: 0 });
});

test('has a manual page with every command, where man finds it after a global installation', async () => {
  await run(
    `npm install --global --prefix ${home}/global --no-audit --no-fund --prefer-offline ../belfry-*.tgz`,
  );
  const page = readFileSync(join(home, 'global/share/man/man1/belfry.1'), 'utf8');
  for (const command of ['serve', 'token create', 'apply'])
    expect(page).toContain(`\n.SS belfry ${command} `);
  expect(page).not.toMatch(/undefined|^\.(?!TH|SH|SS|TP|B|I|RI)/m);
});

const program = `
import { createClient, ApiError, type PanelEvent } from 'belfry/client';

const client = createClient({ url: 'http://127.0.0.1:1', token: 'bfy_x' });
const titles: string[] = [];
export async function follow(): Promise<PanelEvent['type'] | undefined> {
  for await (const event of client.subscribe({ panel: 'x' })) {
    if (event.type === 'notification') titles.push(event.data.title, String(event.data.remainingMs));
    if (event.type === 'clear') titles.push(event.data.reason);
    // @ts-expect-error: a heartbeat has no title
    if (event.type === 'heartbeat') titles.push(event.data.title);
  }
  for await (const { rules, token } of client.history({ q: 'x' })) titles.push(token.name, ...rules.map(({ id }) => id));
  // @ts-expect-error: a message is missing
  await client.send({ title: 'x' });
  return undefined;
}
const failed = await client.send({ title: 'x', message: 'y' }, { retryMs: 0 }).catch((error: unknown) => error);
console.log(failed instanceof ApiError && failed.status);
`;

test('has a client with types of its own, which another package imports', async () => {
  writeFileSync(join(app, 'program.mts'), program);
  const options =
    '--noEmit --strict --exactOptionalPropertyTypes --target es2022 --lib es2023,dom,dom.asynciterable';
  const tsc = `${join(root, 'node_modules/.bin/tsc')} --module nodenext --skipLibCheck false --types ''`;
  expect(await run(`${tsc} ${options} program.mts`)).toBe('');
  expect(await run('node program.mts')).toBe('0\n');
});

test('names itself as it was called', async () => {
  expect(await run('node_modules/.bin/belfry --help')).toContain('Usage: belfry ');
});

test('is what the rules of packages ask for', async () => {
  const { messages, pkg } = await publint({ pkgDir: installed, pack: false, strict: true });
  expect(messages.map((message) => formatMessage(message, pkg as Record<string, unknown>))).toEqual([]);
});
