/**
 * Every command and configuration in README.md and docs/ is run, checked by the tool it is for, or held against what it calls.
 * ```sh run is run, the blocks of a page one after the other; ```json rule is stored as a rule, ```text query searched for;
 * ```text output is an example of what a program prints.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { run } from '#cli/run.ts';
import { readConfig } from '#settings/config.ts';
import { type FencedBlock, fencedBlocks, guides } from '../support/documentation.ts';
import { FakeIo } from '../support/fake-io.ts';
import { TestServer } from '../support/server.ts';
import { root } from '../support/server-process.ts';
import { missingPackage, runs, skipReason } from '../support/skip-reason.ts';
import { storeSettings } from '../support/test-store.ts';
import { machineEnvironment, Terminal } from './terminal.ts';

/** Pages with a test of their own, in which it runs or checks each block. */
const testedElsewhere: Readonly<Record<string, string>> = {
  'docs/integrations.md': 'test/e2e/integrations-guide.test.ts',
  'docs/listeners.md': 'test/e2e/listeners.test.ts',
};

const blocks = guides().flatMap(fencedBlocks);
const home = mkdtempSync(join(tmpdir(), 'belfry-docs-'));
let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_TOKEN: 'off' });
  key = await server.key('admin');
  const main = join(root, 'dist/server/main.js');
  writeFileSync(join(home, 'belfry'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`);
  chmodSync(join(home, 'belfry'), 0o755);
});
afterAll(async () => {
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
});

const at = ({ file, line }: FencedBlock) => `${file}:${line}`;
const marked = (marker: string) => blocks.filter((block) => block.marker === marker);

test('every block names its language, and every marker means something', () => {
  expect(blocks.length).toBeGreaterThan(60);
  expect(blocks.filter(({ language }) => language === '').map(at)).toEqual([]);
  const known = ['', 'run', 'rule', 'query', 'systemd', 'output'];
  expect(blocks.filter(({ marker }) => !known.includes(marker)).map(at)).toEqual([]);
  for (const [page, file] of Object.entries(testedElsewhere))
    expect([page, readFileSync(join(root, file), 'utf8').includes(page)]).toEqual([page, true]);
});

test('what a page says to run works, one block after the other', async () => {
  const pages = [...new Set(marked('run').map(({ file }) => file))];
  expect(pages.length).toBeGreaterThan(5);
  for (const page of pages) {
    const script = marked('run')
      .filter(({ file }) => file === page)
      .map(({ text }) => text)
      .join('\n')
      .replaceAll('npm run --silent belfry --', 'belfry')
      .replaceAll('http://127.0.0.1:8080', server.url);
    const env = machineEnvironment({
      ...storeSettings(server.folder),
      BELFRY_URL: server.url,
      BELFRY_TOKEN: await server.token(),
      KEY: key,
    });
    env.PATH = [home, env.PATH].join(delimiter);
    const strict = 'set -euo pipefail; curl() { command curl -sS --fail-with-body "$@"; }\n';
    await expect(Terminal.run(strict + script, env), page).resolves.toBeDefined();
  }
});

test('every rule in the documentation is one that Belfry takes, and every query one that it answers', async () => {
  for (const name of ['payments', 'monitoring']) await server.token({ name });
  expect(marked('rule').length).toBeGreaterThan(3);
  for (const block of marked('rule')) {
    const answer = await server.call('POST', '/api/rules', { token: key, json: JSON.parse(block.text) });
    expect([at(block), answer.text, answer.status]).toEqual([at(block), answer.text, 201]);
  }
  const [, table = ''] = readFileSync(join(root, 'docs/search.md'), 'utf8').split(/^## Terms$/m);
  const terms = Array.from(table.matchAll(/^\| (`.*`) \|/gm), ([, cell = '']) =>
    cell.slice(1, -1).split('`, `'),
  ).flat();
  expect(terms.length).toBeGreaterThan(20);
  await server.call('POST', '/api/panels', { token: await server.token(), json: { name: 'lobby' } });
  await server.token({ name: 'ci' });
  await server.call('POST', '/api/rules', { token: key, json: { name: 'night mute', then: { mute: true } } });
  for (const query of [...terms, ...marked('query').map(({ text }) => text.trim())]) {
    const answer = await server.call('GET', `/api/history?q=${encodeURIComponent(query)}`, { token: key });
    expect([query, answer.status, answer.text]).toEqual([query, 200, answer.text]);
  }
});

const others = blocks.filter(({ marker, file }) => marker === '' && !(file in testedElsewhere));

test('every other command is complete, and names commands, options, settings, calls and files that exist', async () => {
  const settings = new Set(readConfig({}).effective.flatMap(({ name }) => [name, `${name}_FILE`]));
  const calls = server.running.routes.map(
    ({ method, url }) =>
      [method, new RegExp(`^${url.replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`)] as const,
  );
  for (const block of others.filter(({ language }) => language === 'sh' || language === 'crontab')) {
    const commands = block.language === 'crontab' ? block.text.replace(/^(?:\S+\s+){5}/gm, '') : block.text;
    const text = commands.replaceAll('npm run --silent belfry --', 'belfry').replace(/\\\n/g, ' ');
    const complete = spawnSync('bash', ['-n'], { input: text, encoding: 'utf8' });
    expect([at(block), complete.stderr]).toEqual([at(block), '']);
    for (const [name] of text.matchAll(/\bBELFRY_[A-Z_]+/g))
      expect([at(block), name, settings.has(name) || /^BELFRY_DOMAIN$/.test(name)]).toEqual([
        at(block),
        name,
        true,
      ]);
    for (const [file] of text.matchAll(/(?<![\w/.])deploy\/[\w./-]*\w/g))
      if (!file.startsWith('deploy/secrets'))
        expect([at(block), file, existsSync(join(root, file))]).toEqual([at(block), file, true]);
    for (const [, words = ''] of text.matchAll(/(?:^|[|;&(]\s*|\s--\s)belfry ([^|;&)#>\n]*)/gm))
      await expectCommand(block, words);
    for (const [, request = ''] of text.matchAll(/(?:^|[|;&(]\s*)curl ([^|;&)\n]*)/gm)) {
      const path = /(?:https?:\/\/[^/\s"]+|\$BELFRY_URL)(\/[^\s"'?]*)/
        .exec(request)?.[1]
        ?.replaceAll(/\$\w+/g, 'x');
      if (path === undefined) continue;
      const method =
        /-X (\w+)/.exec(request)?.[1] ?? (/(?:^|\s)(?:-d|--json)\s/.test(request) ? 'POST' : 'GET');
      const exists = calls.some(([verb, url]) => verb === method && url.test(path));
      expect([at(block), method, path, exists]).toEqual([at(block), method, path, true]);
    }
  }
});

/** `token create --name ci`: the command is there and knows each option. */
async function expectCommand(block: FencedBlock, words: string): Promise<void> {
  const [first = '', second = ''] = words.split(/\s+/);
  if (first.startsWith('-')) return;
  const io = new FakeIo();
  await run(
    [
      first,
      ...(/^[a-z]+$/.test(second) && /^(?:token|key|tenant|user|panel)$/.test(first) ? [second] : []),
      '--help',
    ],
    io,
  );
  expect([at(block), words, io.out.startsWith('Usage: belfry '), io.err]).toEqual([
    at(block),
    words,
    true,
    '',
  ]);
  for (const [option] of words.split(' -- ')[0]?.matchAll(/(?<=\s)--[a-z][a-z-]*/g) ?? [])
    expect([at(block), words, option, io.out.includes(option)]).toEqual([at(block), words, option, true]);
}

test('every other configuration can be read, and is taken by the program it is for', (context) => {
  for (const block of others) {
    const { language, text } = block;
    if (language === 'yaml') expect([at(block), typeof parseYaml(text)]).toEqual([at(block), 'object']);
    else if (language === 'json') expect([at(block), typeof JSON.parse(text)]).toEqual([at(block), 'object']);
    else if (language === 'js') expect([at(block), stripTypeScriptTypes(text)]).toEqual([at(block), text]);
    else if (language === 'ini')
      expect([at(block), text.split('\n').filter((line) => !/^(?:[#;].*|\w+ = .*|)$/.test(line))]).toEqual([
        at(block),
        [],
      ]);
    // What is quoted from the program is compared with it: src/reference-pages.test.ts.
    else if (language === 'text')
      expect([at(block), block.file]).toEqual([at(block), 'docs/command-line.md']);
    else expect([at(block), /^(?:sh|crontab)$/.test(language)]).toEqual([at(block), true]);
  }
  for (const { text } of marked('systemd')) {
    const unit = join(home, 'panel.service');
    // The programs are on the machine that the page is about.
    writeFileSync(unit, text.replaceAll(/\/usr\/bin\/(?:cage|curl)/g, '/bin/true'));
    const verified = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
    if (!verified.error) expect(verified.stderr).not.toContain('panel.service');
  }
  const missing = skipReason(missingPackage('prometheus', () => runs(['--version'], 'promtool')));
  context.skip(missing !== undefined, missing);
  const prometheus = others.filter(({ text }) => text.startsWith('# prometheus.yml'));
  expect(prometheus.length).toBe(1);
  const file = join(home, 'prometheus.yml');
  writeFileSync(
    file,
    (prometheus[0]?.text ?? '')
      .replaceAll('/opt/belfry', root)
      .replace('/etc/prometheus/belfry-default.token', '/dev/null'),
  );
  expect(execFileSync('promtool', ['check', 'config', file], { encoding: 'utf8' })).toContain('SUCCESS');
});
