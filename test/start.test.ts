import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Checkout } from './support/checkout.ts';
import { eventually } from './support/eventually.ts';

let checkout: Checkout;
beforeEach(() => {
  checkout = new Checkout();
});
afterEach(() => checkout.remove());

describe('a command', () => {
  test('gets its arguments as they were, and stdout to itself', async () => {
    const { code, stdout, stderr } = await checkout.run([
      'belfry',
      'token',
      'create',
      '--name',
      'a b',
      '$HOME',
    ]);
    expect(JSON.parse(stdout)).toMatchObject({
      args: ['token', 'create', '--name', 'a b', '$HOME'],
      cwd: checkout.root,
    });
    expect(stderr).toBe('belfry: installing dependencies (npm ci) …\n');
    expect(code).toBe(0);
  });

  test('finds the Node that runs it first on the PATH', async () => {
    const { path, node } = JSON.parse((await checkout.run(['belfry'])).stdout);
    expect(path.startsWith(`${dirname(node)}:`)).toBe(true);
  });

  test('hands back its exit code', async () => {
    expect(await checkout.run(['belfry', 'exit', '7'])).toMatchObject({ code: 7, signal: null });
  });

  test('hands back the signal that ended it', async () => {
    expect(await checkout.run(['belfry', 'die', 'SIGKILL'])).toMatchObject({ signal: 'SIGKILL' });
  });

  test('that does not exist is answered with those that do', async () => {
    const { code, stdout, stderr } = await checkout.run(['sing']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('use one of: start, belfry, test');
  });
});

describe('a server', () => {
  const stopped = (signal: string) => new RegExp(`^serving in \\d+\\n${signal} 1\\n$`);

  test.each(['SIGTERM', 'SIGINT'] as const)('that gets %s may finish', async (signal) => {
    const server = checkout.start(['start']);
    await server.printed('serving');
    server.process.kill(signal);
    const { code, stdout } = await server.ended;
    expect(stdout).toMatch(stopped(signal));
    expect(code).toBe(0);
  });

  test('is the process that was started: no helper stays in memory behind it', async () => {
    const server = checkout.start(['start']);
    await server.printed(`serving in ${server.process.pid}\n`);
    server.process.kill('SIGTERM');
    await server.ended;
  });

  test('is that process also where Node is too old and another one is fetched first', async () => {
    const { PATH } = process.env;
    checkout.write('bin/node', `#!/bin/sh\nexec "${process.execPath}" --import ./old-node.mjs "$@"\n`);
    chmodSync(join(checkout.root, 'bin/node'), 0o755);
    const server = checkout.spawn('sh', ['scripts/run.sh', 'start'], {
      PATH: `${join(checkout.root, 'bin')}:${PATH}`,
      npm_execpath: join(checkout.root, 'npm-cli.cjs'),
      npm_lifecycle_event: undefined,
    });
    await server.printed(`serving in ${server.process.pid}\n`);
    expect(checkout.npmRuns()).toBe(2);
    server.process.kill('SIGTERM');
    expect((await server.ended).stderr).toContain('this is Node 20.1.0; fetching Node 24');
  });

  test('under a Node that cannot become another process hears a signal once, however often it comes', async () => {
    const server = checkout.start(['start'], { old: true });
    await server.printed('serving');
    server.process.kill('SIGTERM');
    server.process.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(stopped('SIGTERM')) });
  });

  test('may finish when it is npm that gets the signal', async () => {
    await checkout.run(['belfry']);
    const server = checkout.spawn('npm', ['start', '--silent']);
    await server.printed('serving');
    server.process.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, stdout: expect.stringMatching(stopped('SIGTERM')) });
  });

  test('stops in order when npm is killed outright', async () => {
    await checkout.run(['belfry']);
    const server = checkout.spawn('npm', ['start', '--silent']);
    await server.printed('serving');
    server.process.kill('SIGKILL');
    expect((await server.ended).stdout).toMatch(stopped('SIGTERM'));
  });
});

describe('the dependencies', () => {
  test('are installed once, and again after package-lock.json has changed', async () => {
    await checkout.run(['belfry']);
    const second = await checkout.run(['belfry']);
    expect([checkout.npmRuns(), second.stderr]).toEqual([1, '']);
    checkout.lock('2.0.0');
    await checkout.run(['belfry']);
    expect(checkout.npmRuns()).toBe(2);
  });

  test('that someone installed by hand are kept when they fit, replaced when they do not', async () => {
    const a = { version: '1.0.0', integrity: 'sha512-1.0.0' };
    const record = (entry: object) =>
      checkout.write(
        'node_modules/.package-lock.json',
        JSON.stringify({ packages: { 'node_modules/a': entry } }),
      );
    record(a);
    await checkout.run(['belfry']);
    expect(checkout.npmRuns()).toBe(0);
    rmSync(join(checkout.root, 'node_modules/.belfry-installed'));
    record({ ...a, version: '0.9.0' });
    await checkout.run(['belfry']);
    expect(checkout.npmRuns()).toBe(1);
  });

  test('are installed once by commands that start together', async () => {
    checkout.write('npm-hold', '');
    const started = [1, 2, 3].map((n) => checkout.start(['belfry', `${n}`]));
    let waiting = 0;
    for (const each of started)
      each.printed('waiting for another command').then(
        () => (waiting += 1),
        () => undefined,
      );
    await eventually(() => expect(waiting).toBe(2));
    rmSync(join(checkout.root, 'npm-hold'));
    const all = await Promise.all(started.map(({ ended }) => ended));
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(checkout.npmRuns()).toBe(1);
    expect(checkout.has('.node/setup.lock')).toBe(false);
  });

  test('are installed although a killed command left its lock behind', async () => {
    const gone = checkout.spawn(process.execPath, ['--version']);
    await gone.ended;
    checkout.write('.node/setup.lock', JSON.stringify({ pids: [gone.process.pid], host: hostname(), at: 0 }));
    expect(await checkout.run(['belfry'])).toMatchObject({ code: 0 });
  });

  test('are left alone while the npm of a killed command still works on them', async () => {
    checkout.write('npm-hold', '');
    const killed = checkout.start(['belfry']);
    await killed.printed('installing dependencies');
    while (checkout.npmRuns() === 0) await sleep(20);
    killed.process.kill('SIGKILL');
    const next = checkout.start(['belfry']);
    await next.printed('waiting for another command');
    rmSync(join(checkout.root, 'npm-hold'));
    expect((await next.ended).code).toBe(0);
  });

  test.each([
    ['npm error code EACCES\nnpm error path /home/a/.npm/_cacache/tmp', 'npm_config_cache='],
    ['npm error code ENOTFOUND', 'the npm registry cannot be reached'],
    ['npm error code ENOSPC', 'the disk is full'],
    ['npm error code EWHATEVER', 'mend the cause above'],
  ])('that cannot be installed (%s) are a clear failure', async (fault, wayOut) => {
    checkout.write('npm-fault', fault);
    const { code, stdout, stderr } = await checkout.run(['belfry']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(fault);
    expect(stderr).toContain(wayOut);
    expect(checkout.has('node_modules/.belfry-installed')).toBe(false);
  });
});

describe('under a Node that is too old', () => {
  test('a newer one is fetched once, and the command goes on under it', async () => {
    const { code, stdout, stderr } = await checkout.run(['belfry', 'hello'], { old: true });
    expect(code).toBe(0);
    expect(stderr).toContain('this is Node 20.1.0; fetching Node 24');
    const { args, path } = JSON.parse(stdout);
    expect(args).toEqual(['hello']);
    expect(path.startsWith(join(checkout.root, '.node', 'node-'))).toBe(true);

    const again = await checkout.run(['belfry'], { old: true });
    expect([again.code, again.stderr]).toEqual([0, '']);
  });

  test('and without a way to fetch one, the answer says what to do', async () => {
    checkout.write('npm-fault', 'npm error code EINTEGRITY');
    const { code, stderr } = await checkout.run(['belfry'], { old: true });
    expect(code).toBe(1);
    expect(stderr).toContain('install Node 24 or newer from https://nodejs.org/');
  });
});

describe('npm test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-closing-line-'));
  const root = join(import.meta.dirname, '..');
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const support = (file: string) => JSON.stringify(join(import.meta.dirname, 'support', file));
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `export default { test: { setupFiles: ${support('keep-notes.ts')}, include: ['*.test.ts'] } };`,
  );
  /** Does `work` only when its file is loaded for the first time. */
  const onlyAtFirst = (file: string, work: string) =>
    `import { existsSync, writeFileSync } from 'node:fs';
     const isFirst = !existsSync('${file}'); writeFileSync('${file}', '');
     test('a', async () => { noteOutput('server')(isFirst ? 'the first try' : 'the second try'); if (isFirst) { ${work} } });
     test('b', () => {});`;
  const noted = `import { noteOutput } from ${support('failure-notes.ts')};\n`;
  const files = {
    pass: `test('a', () => {}); test('b', () => {});`,
    fail: `test('a', () => { throw new Error('no'); });`,
    skip: `test('a', () => {}); test.skip('b', () => {});`,
    todo: `test('a', () => {}); test.todo('b');`,
    noted: `${noted}
      test('a', () => { noteOutput('server')('earlier'); }); test('b', () => { noteOutput('server')('the reason'); throw new Error('no'); });`,
    broken: `import './missing.ts'; test('a', () => {});`,
    stray: `test('a', () => { setTimeout(() => { throw new Error('late'); }, 1); }); test('b', () => new Promise((r) => setTimeout(r, 60)));`,
    once: noted + onlyAtFirst('flaky', `throw new Error('once');`),
    'once-crashed':
      noted + onlyAtFirst('crash', `process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});`),
    'once-late':
      noted +
      onlyAtFirst(
        'stray',
        `setTimeout(() => { throw new Error('late'); }, 1); await new Promise((r) => setTimeout(r, 60));`,
      ),
    'once-more': noted + onlyAtFirst('fourth', `throw new Error('once');`),
  };
  for (const [name, body] of Object.entries(files)) {
    writeFileSync(join(folder, `${name}.test.ts`), `import { test } from 'vitest';\n${body}`);
  }
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (args: readonly string[], CI?: string) =>
    checkout.spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', join(root, 'test/run.ts'), '--root', folder, ...args],
      { CI, VITEST: undefined },
    ).ended;
  /** A whole run of these files, which are few: a run of named files repeats none. */
  const runAll = (...names: readonly (keyof typeof files)[]) => {
    const others = Object.keys(files).filter((name) => !names.includes(name as keyof typeof files));
    return run(others.flatMap((name) => ['--exclude', `${name}.test.ts`]));
  };
  const lastLine = (text: string) => text.trimEnd().split('\n').at(-1);

  test.each([
    ['pass', 'true', 0, '2 passed, 0 failed'],
    ['skip', undefined, 0, '1 passed, 0 failed, 1 skipped'],
    ['todo', 'true', 1, '1 passed, 0 failed, 1 skipped'],
    ['stray', undefined, 1, '2 passed, 1 failed'],
    ['nothing', undefined, 1, '0 passed, 0 failed'],
  ])('of %s with CI=%s ends with %i and "%s"', async (name, CI, status, closing) => {
    const { code, stdout } = await run([`${name}.test.ts`], CI);
    expect(lastLine(stdout)).toBe(closing);
    expect(code).toBe(status);
  });

  test('of several files shows the slowest, and each failed test with what was printed during it', async () => {
    const names = ['pass', 'noted', 'fail', 'broken', 'skip'];
    const { code, stdout } = await run(names.map((name) => `${name}.test.ts`));
    expect(stdout).toMatch(
      /^Slowest of 5 files, which took \d+ s one by one:\n( +[\d.]+ s {2}(pass|noted|fail|broken|skip)\.test\.ts\n){5}/m,
    );
    expect(stdout).toMatch(/\nFAILED noted\.test\.ts > b\nno\nserver:\n {2}the reason\n\n/);
    // A file that cannot be loaded counts as one that failed.
    expect(stdout).toMatch(/\n4 passed, 3 failed, 1 skipped\n$/);
    expect(code).toBe(1);
  });

  test('runs a file that failed once more, and is green if it passes then: the end names it, with both tries', async () => {
    const { code, stdout } = await runAll('pass', 'once', 'once-crashed', 'once-late');
    expect(stdout).toContain('FAILED at first: once.test.ts > a\nonce\nserver:\n  the first try\n');
    expect(stdout).toMatch(/PASSED alone, in [\d.]+ s: once\.test\.ts\nserver:\n {2}the second try\n/);
    expect(stdout).toContain('FAILED at first: once-crashed.test.ts > a\n');
    expect(stdout).toMatch(/FAILED at first: once-late\.test\.ts\nlate\n/);
    for (const name of ['once.test.ts > a', 'once-crashed.test.ts > a', 'once-late.test.ts'])
      expect(stdout).toContain(`\nflaky: ${name}\n`);
    expect(lastLine(stdout)).toBe('8 passed, 0 failed');
    expect(code).toBe(0);
  });

  test('is red if a file fails again, and shows both tries', async () => {
    const { code, stdout } = await runAll('pass', 'noted');
    expect(stdout).toContain('FAILED noted.test.ts > b\nno\n');
    expect(stdout).toContain('FAILED again, alone: noted.test.ts > b\nno\nserver:\n  the reason\n');
    expect(lastLine(stdout)).toBe('3 passed, 1 failed');
    expect(code).toBe(1);
  });

  test('is red if more than three files fail, without a second try', async () => {
    for (const name of ['flaky', 'crash', 'stray', 'fourth']) rmSync(join(folder, name), { force: true });
    const { code, stdout } = await runAll('pass', 'once', 'once-crashed', 'once-late', 'once-more');
    expect(stdout).not.toContain('alone');
    expect(stdout).toContain('FAILED once-more.test.ts > a\nonce\n');
    expect(lastLine(stdout)).toBe('6 passed, 6 failed');
    expect(code).toBe(1);
  });
});

describe('the pages', () => {
  /** Does for `vite build` what the tests need: notes that it ran, fails when told to, writes a page. */
  const vite = `
    import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
    appendFileSync('vite.log', 'built ');
    if (existsSync('vite-fault')) throw new Error('a fault in a page');
    const folder = process.argv[process.argv.indexOf('--outDir') + 1];
    mkdirSync(folder, { recursive: true });
    writeFileSync(folder + '/page.html', 'a page');
  `;
  const serve = async (env: Record<string, string> = {}) => {
    const server = checkout.start(['start'], { env });
    await server.printed('serving');
    server.process.kill('SIGTERM');
    return server.ended;
  };
  beforeEach(async () => {
    await checkout.run(['belfry']);
    checkout.write('node_modules/vite/package.json', '{"type": "module"}');
    checkout.write('node_modules/vite/bin/vite.js', vite);
    checkout.write('vite.config.ts', '');
    checkout.write('src/web/panel/main.ts', 'one');
  });

  test('are built before the server starts, and again only when their sources have changed', async () => {
    const first = await serve();
    expect(first.stderr).toBe('belfry: building the pages …\n');
    expect(checkout.has('dist/web/page.html')).toBe(true);
    expect((await serve()).stderr).toBe('');
    checkout.write('src/web/panel/main.test.ts', 'a test is no part of a page');
    expect((await serve()).stderr).toBe('');
    checkout.write('src/web/panel/main.ts', 'two');
    expect((await serve()).stderr).toBe('belfry: building the pages …\n');
  });

  test.each([[['start']], [['belfry', 'serve']]])('are not built with a wrong setting (%j)', async (args) => {
    const ended = await checkout.run(args, { env: { BELFRY_WRONG: 'x' } });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toContain('belfry: BELFRY_WRONG is not a setting\n');
    expect(ended.stderr).not.toContain('building');
  });

  test('are built before the settings are read if a secret is in a pipe, which only the server can then read', async () => {
    const { stderr } = await serve({ BELFRY_WRONG: 'x', BELFRY_KEY_FILE: '/dev/null' });
    expect(stderr).toBe('belfry: building the pages …\n');
  });

  test('that cannot be built stop the start, with the reason, and leave the old ones', async () => {
    await serve();
    checkout.write('src/web/panel/main.ts', 'broken');
    checkout.write('vite-fault', '');
    const { code, stderr } = await checkout.run(['start']);
    expect(code).toBe(1);
    expect(stderr).toContain('a fault in a page');
    expect(checkout.has('dist/web/page.html')).toBe(true);
  });

  test('are not built for a command that shows none', async () => {
    expect((await checkout.run(['belfry', 'token', 'list'])).stderr).toBe('');
  });
});
