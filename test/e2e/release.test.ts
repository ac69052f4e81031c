/** The steps of a release, in a checkout that has only the files they read, and the workflows that publish it. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '../..');
const script = join(root, 'scripts/release.mjs');

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

/** The steps of a job of release.yml. */
function stepsOf(job: 'image' | 'package'): readonly Step[] {
  const workflow: { readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>> } = parse(
    readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'),
  );
  return workflow.jobs[job]?.steps ?? [];
}

/** The arguments of `gh` in the release of this tag. */
function publish(tag: string): readonly string[] {
  const step = stepsOf('package').find(({ run }) => run?.includes('gh release create'));
  const home = mkdtempSync(join(tmpdir(), 'belfry-release-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, 'gh'), '#!/bin/sh\nprintf "%s\\n" "$@"\n');
  chmodSync(join(home, 'gh'), 0o755);
  const env = {
    PATH: `${home}:${process.env.PATH}`,
    GITHUB_REF_NAME: tag,
    CHANGELOG: `https://example.org/blob/${tag}/CHANGELOG.md`,
  };
  const { stdout, status } = spawnSync('bash', ['--norc', '-e', '-c', step?.run ?? ''], {
    cwd: home,
    env,
    encoding: 'utf8',
  });
  expect(status).toBe(0);
  return stdout.trimEnd().split('\n');
}

test('a release is tagged when every place has its version, and not before', () => {
  const home = mkdtempSync(join(tmpdir(), 'belfry-release-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const run = (program: string, ...args: string[]) =>
    spawnSync(program, args, { cwd: home, encoding: 'utf8' });
  const release = (...args: string[]) => run(process.execPath, script, ...args);
  const commit = () => {
    run('git', 'add', '.');
    run('git', 'commit', '--quiet', '--message', 'x');
  };
  const files = {
    'package.json': '{"version": "0.1.0", "type": "module"}',
    'package-lock.json': '{"version": "0.1.0", "packages": {"": {"version": "0.1.0"}}}',
    'deploy/helm/belfry/Chart.yaml': 'version: 0.1.0\nappVersion: 0.1.0\n',
    'docs/operations.md': 'npm install ./belfry-0.1.0.tgz\ndocker push example.org/belfry:0.1.0\n',
    'docs/panels.md': 'such as `panel/0.1.0`\n',
    'README.md': 'npm install ./belfry-0.1.0.tgz\n',
    'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n- A change.\n',
    'src/main.ts':
      "import { readFileSync } from 'node:fs';\nconsole.log(JSON.parse(readFileSync('package.json', 'utf8')).version);\n",
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(home, file), text);
  }
  run('git', 'init', '--quiet');
  run('git', 'config', 'user.name', 'Test');
  run('git', 'config', 'user.email', 'test@example.com');
  commit();

  const early = release('tag', '1.2.3');
  expect(early.status).toBe(1);
  expect(early.stderr.split('\n')).toEqual([
    'package.json is 0.1.0, not 1.2.3',
    'package-lock.json is 0.1.0, not 1.2.3',
    'packages[""] of package-lock.json is 0.1.0, not 1.2.3',
    '--version is 0.1.0, not 1.2.3',
    ...Array(2).fill('deploy/helm/belfry/Chart.yaml is 0.1.0, not 1.2.3'),
    ...Array(2).fill('docs/operations.md is 0.1.0, not 1.2.3'),
    'docs/panels.md is 0.1.0, not 1.2.3',
    'README.md is 0.1.0, not 1.2.3',
    'CHANGELOG.md has no heading "## [1.2.3] - YYYY-MM-DD"',
    '',
  ]);

  expect(release('prepare', '1.2.3').status).toBe(0);
  expect(release('check', '1.2.3').stderr).toBe('the work tree is not clean: commit the changes\n');
  commit();
  expect(release('tag', '1.2.3')).toMatchObject({ status: 0, stderr: '' });
  expect(run('git', 'tag').stdout).toBe('v1.2.3\n');
  expect(readFileSync(join(home, 'CHANGELOG.md'), 'utf8')).toMatch(
    /## \[Unreleased\]\n\n## \[1\.2\.3\] - \d{4}-\d\d-\d\d\n\n- A change\./,
  );

  run('git', 'commit', '--quiet', '--allow-empty', '--message', 'later');
  expect(release('check', '1.2.3').stderr).toBe('the tag v1.2.3 is another commit\n');
});

test('every place of this checkout has the version of its package', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const { stderr } = spawnSync(process.execPath, [script, 'check', version], { cwd: root, encoding: 'utf8' });
  // Between two releases.
  const ofCommits = /^the work tree is not clean|^the tag v\S+ is another commit/;
  expect(stderr.split('\n').filter((line) => line !== '' && !ofCommits.test(line))).toEqual([]);
});

test('a release leaves no page, chart or example with the version before it', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const home = mkdtempSync(join(tmpdir(), 'belfry-release-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const pages = ['README.md', 'docs', 'deploy', 'examples'];
  const manifests = ['CHANGELOG.md', 'package.json', 'package-lock.json'];
  for (const each of [...pages, ...manifests])
    cpSync(join(root, each), join(home, each), { recursive: true });
  expect(spawnSync(process.execPath, [script, 'prepare', '123.4.5'], { cwd: home }).status).toBe(0);
  const { stdout } = spawnSync('grep', ['-rnwF', version, ...pages], { cwd: home, encoding: 'utf8' });
  // These stay true.
  const history = ['From ', 'before ', 'since ', 'pre-'].map((word) => word + version);
  const isHistory = (line: string) => history.some((words) => line.includes(words));
  expect(stdout.split('\n').filter((line) => line !== '' && !isHistory(line))).toEqual([]);
});

test('every action of a workflow is pinned by its commit, with the version beside it', () => {
  const folder = join(root, '.github/workflows');
  const used = readdirSync(folder).flatMap((file) =>
    [...readFileSync(join(folder, file), 'utf8').matchAll(/\buses: (.*)$/gm)].map(
      ([, action = '']) => action,
    ),
  );
  const foreign = used.filter((action) => !action.startsWith('./'));
  expect(foreign.length).toBeGreaterThan(0);
  expect(foreign.filter((action) => !/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

test('the image is pushed once its label and its program are checked, and is built as it was checked', () => {
  const steps = stepsOf('image');
  const builds = steps.filter(({ uses }) => uses?.startsWith('docker/build-push-action@'));
  const check = steps.findIndex(({ run }) => run?.includes('docker run'));
  const [checked, pushed] = builds.map((step) => ({ ...step, at: steps.indexOf(step) }));
  expect([checked?.with?.push, pushed?.with?.push]).toEqual([undefined, true]);
  expect(checked?.at).toBeLessThan(check);
  expect(pushed?.at).toBeGreaterThan(check);
  const contentOf = (step?: Step) =>
    ['context', 'file', 'build-args', 'labels', 'tags'].map((name) => step?.with?.[name]);
  expect(contentOf(pushed)).toEqual(contentOf(checked));
});

test('a tag of a prerelease is published as one, and never as the latest release or image', () => {
  expect(publish('v0.9.1-rc.1')).toEqual(expect.arrayContaining(['--prerelease', '--latest=false']));
  const released = publish('v0.9.1');
  expect(released).not.toContain('--prerelease');
  expect(released).not.toContain('--latest=false');
  const tags = stepsOf('image').map((step) => step.with?.tags ?? '');
  expect(tags.filter((tag) => String(tag).includes('latest'))).toEqual([]);
});

test('a release links the changelog of its tag and the changes since the release before', () => {
  const released = publish('v0.9.1');
  expect(released.join('\n')).toContain('(https://example.org/blob/v0.9.1/CHANGELOG.md)');
  expect(released).toContain('--generate-notes');
});
