/**
 * Runs the torture tests with their full counts and keeps what they report in docs/reliability.md, together with the
 * machine and the commit. `npm run torture` runs all parts, `npm run torture -- kill streams` those that are named, and
 * `--share 0.1` a tenth of the counts.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../support/server-process.ts';
import { keepSection, machine } from './reliability.ts';
import type { Figure } from './report.ts';

interface Part {
  readonly about: string;
  /** Test files, or folders of them, from test/torture. */
  readonly tests: readonly string[];
}

/** A new part is its tests and one entry here. */
const parts: Record<string, Part> = {
  control: { about: 'defects put in on purpose, which the checks must catch', tests: ['control'] },
  kill: { about: 'processes killed under load', tests: ['crash/kill.test.ts'] },
  'ready-again': { about: 'how soon a killed server is back', tests: ['crash/ready-again.full.test.ts'] },
  power: { about: 'power cuts', tests: ['crash/power.test.ts'] },
  disk: { about: 'disks that are full or fail', tests: ['crash/disk.test.ts'] },
  damage: { about: 'a write-ahead log that is torn, cut short or damaged', tests: ['crash/damage.test.ts'] },
  fsync: { about: 'answers after the fsync', tests: ['crash/answer-after-fsync.test.ts'] },
  drain: { about: 'servers that get SIGTERM under load', tests: ['crash/drain.test.ts'] },
  streams: { about: 'streams that break, stall and come back', tests: ['streams'] },
  overload: { about: 'more load than the server can carry', tests: ['overload'] },
  input: { about: 'bad input', tests: ['input/fuzz.test.ts', 'input/bytes.test.ts'] },
  slow: { about: 'clients that take their time', tests: ['input/slow.test.ts'] },
  operations: { about: 'readiness, backups, upgrades', tests: ['operations'] },
  tenants: { about: 'three tenants at once', tests: ['tenants', '../e2e/tenants.test.ts'] },
  secrets: { about: 'secrets, hostile searches and patterns', tests: ['secrets'] },
  proxies: { about: 'behind nginx, Caddy and HAProxy', tests: ['proxies'] },
  nodes: { about: 'several nodes, on a PostgreSQL and a NATS server that fail', tests: ['nodes'] },
  packages: { about: 'the package, the container image, the chart', tests: ['packages'] },
  pages: { about: 'every state of the pages in both colour schemes', tests: ['../browser'] },
  clock: { about: 'clocks that jump', tests: ['clock'] },
};

async function main(args: string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args,
    allowPositionals: true,
    options: { share: { type: 'string', default: '1' } },
  });
  const unknown = positionals.filter((name) => !Object.hasOwn(parts, name));
  if (unknown.length > 0) {
    console.error(
      `torture: there is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`,
    );
    return 2;
  }
  const failed: string[] = [];
  for (const name of positionals.length > 0 ? positionals : Object.keys(parts)) {
    const { about, tests } = parts[name] as Part;
    console.log(`\n## ${name}: ${about}\n`);
    const began = Date.now();
    const { ok, figures } = await runTests(tests, values.share);
    if (!ok) failed.push(name);
    const minutes = Math.max(1, Math.round((Date.now() - began) / 60_000));
    keepSection(Object.keys(parts), { name, about, ok, figures, machine: `${machine()} · ${minutes} min` });
  }
  if (failed.length > 0) console.error(`torture: failed: ${failed.join(', ')}`);
  return failed.length === 0 ? 0 : 1;
}

/** Runs test files with these counts; answers whether all went well, and what they reported. */
async function runTests(
  tests: readonly string[],
  share: string,
): Promise<{ ok: boolean; figures: Figure[] }> {
  const path = join(tmpdir(), `belfry-torture-${process.pid}.ndjson`);
  rmSync(path, { force: true });
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      'test/run.ts',
      '--project',
      'e2e',
      '--project',
      'browser',
      ...tests.map((test) => join('test/torture', test)),
    ],
    {
      cwd: root,
      env: { ...process.env, CI: 'true', TORTURE_SHARE: share, TORTURE_FIGURES: path },
      stdio: 'inherit',
    },
  );
  const code = await new Promise((resolve) => child.once('close', resolve));
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
  rmSync(path, { force: true });
  return {
    ok: code === 0,
    figures: lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Figure),
  };
}

process.exitCode = await main(process.argv.slice(2));
