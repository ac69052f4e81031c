/** The files of deploy/, each checked by the tool that reads it or against what the server itself says. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { targets } from '#scripts/targets.mjs';
import { readConfig } from '#settings/config.ts';
import { root } from '#test/support/server-process.ts';

import { missingPackage, runs, skipReason } from '#test/support/skip-reason.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
/** What V8 is told when `npm start` runs the server, which every other way to start it repeats. */
const v8Flags = (targets.start?.([]).at(-1)?.argv ?? []).filter((arg) => /^--(?:max|no)-/.test(arg));
const scratch = mkdtempSync(join(tmpdir(), 'belfry-deploy-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

test('every way to start the server gives V8 the same flags', () => {
  expect(v8Flags.length).toBeGreaterThan(1);
  for (const file of ['deploy/belfry.service', 'deploy/Dockerfile'])
    expect(
      v8Flags.filter((flag) => !read(file).includes(flag)),
      file,
    ).toEqual([]);
});

describe('the Dockerfile', () => {
  const instructions = [
    ...read('deploy/Dockerfile')
      .replaceAll(/\\\n/g, ' ')
      .matchAll(/^([A-Z]+)\s+(.*)$/gm),
  ].map(([, name = '', text = '']) => ({ name, text }));
  const last = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
  const one = (name: string) => last.filter((each) => each.name === name).map(({ text }) => text);

  test('builds on one base image, and leaves the tools of the build behind', () => {
    const bases = instructions.filter(({ name }) => name === 'FROM').map(({ text }) => text.split(' ')[0]);
    expect(bases).toHaveLength(2);
    expect(new Set(bases).size).toBe(1);
    expect(bases[0]).toMatch(/^docker\.io\/library\/node:24-/);
    expect(one('COPY').every((text) => text.startsWith('--from=build '))).toBe(true);
  });

  test('ends with a process that is not root, gets signals, and is watched', () => {
    expect(one('USER')).toEqual(['10001:10001']);
    expect(one('VOLUME')).toEqual(['/data']);
    for (const name of ['ENTRYPOINT', 'CMD'])
      expect(JSON.parse(one(name)[0] ?? '')).toEqual(expect.any(Array));
    expect(one('HEALTHCHECK')[0]).toContain('/healthz');
  });

  test('has all that the build reads, and nothing of a developer', () => {
    const kept = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path);
    expect(read('.dockerignore')).toMatch(/^\*$/m);
    expect(kept).toEqual(
      expect.arrayContaining([
        'src',
        'scripts',
        'package.json',
        'package-lock.json',
        'vite.config.ts',
        '.npmrc',
      ]),
    );
    expect(kept.filter((path) => /^(?:\.git|data|node_modules|test|dist)$/.test(path ?? ''))).toEqual([]);
  });
});

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly environment?: Record<string, string>;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly read_only?: boolean;
  readonly mem_limit?: string;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly restart?: string;
  readonly volumes?: readonly string[];
}

describe.each(['compose.yaml', 'compose.nodes.yaml'])('%s', (file) => {
  const compose = parse(read(`deploy/${file}`), { merge: true }) as {
    services: Record<string, Service>;
    volumes: object;
    secrets?: Record<string, { file: string }>;
  };
  const services = Object.entries(compose.services);
  const nodes = services.filter(([, { image }]) => image === 'belfry');

  test('has settings that the server takes', () => {
    expect(nodes.length).toBeGreaterThan(0);
    writeFileSync(join(scratch, 'database-url'), 'postgres://belfry:password@postgres/belfry');
    writeFileSync(join(scratch, 'bus-url'), 'nats://belfry:password@nats:4222');
    for (const [, { environment = {} }] of nodes) {
      const settings = Object.entries(environment).map(([name, value]) => [
        name,
        value.replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1').replace('/run/secrets', scratch),
      ]);
      expect(readConfig(Object.fromEntries(settings)).port).toBe(8080);
    }
  });

  test('keeps no secret in the file, and names no image without its version', () => {
    for (const [name, { environment = {}, secrets = [], image }] of services) {
      for (const [variable, value] of Object.entries(environment))
        if (/PASSWORD|TOKEN|SECRET|DATABASE_URL/.test(variable))
          expect(value, name).toMatch(/^\/run\/secrets\//);
      expect(secrets.filter((secret) => compose.secrets?.[secret] === undefined)).toEqual([]);
      if (image !== 'belfry') expect(image).toMatch(/^docker\.io\/library\/\w+:\d+$/);
    }
  });

  test('starts nodes that can write to their data alone and come back by themselves', () => {
    for (const [name, node] of nodes) {
      expect(node, name).toMatchObject({ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' });
      expect(node.build).toEqual({ context: '..', dockerfile: 'deploy/Dockerfile' });
      // Belfry speaks plain HTTP: only a proxy on the same machine may reach it.
      for (const port of node.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
    }
  });

  test('gives no container a writable root, or all of the memory', () => {
    for (const [name, { read_only, mem_limit, security_opt }] of services)
      expect({ name, read_only, mem_limit, security_opt }).toEqual({
        ...{ name, read_only: true, mem_limit: expect.stringMatching(/^\d+[mg]$/) },
        security_opt: ['no-new-privileges:true'],
      });
  });

  test('mounts what is there, and volumes that it declares', () => {
    for (const [source = ''] of services.flatMap(([, { volumes = [] }]) =>
      volumes.map((each) => each.split(':')),
    ))
      if (source.startsWith('./')) expect(readdirSync(join(root, 'deploy'))).toContain(basename(source));
      else expect(Object.keys(compose.volumes)).toContain(source);
  });
});

test('NATS of the three nodes asks for a password, which the guide makes', () => {
  const { services } = parse(read('deploy/compose.nodes.yaml'), { merge: true });
  expect(services.nats.command).toEqual(['--config', '/run/secrets/nats.conf']);
  expect(services.node1.environment.BELFRY_BUS_URL_FILE).toBe('/run/secrets/bus-url');
  const guide = read('docs/operations.md');
  for (const name of ['bus-url', 'nats.conf']) expect(guide).toContain(`> deploy/secrets/${name}\n`);
});

test.for(['Caddyfile', 'nodes.Caddyfile'])('caddy takes %s', (file, context) => {
  const missing = skipReason(missingPackage('caddy', () => runs(['version'], 'caddy')));
  context.skip(missing !== undefined, missing);
  const args = ['validate', '--adapter', 'caddyfile', '--config', join(root, 'deploy', file)];
  const { status, stderr } = spawnSync('caddy', args, {
    encoding: 'utf8',
    env: { ...process.env, HOME: scratch, XDG_DATA_HOME: scratch },
  });
  expect(status, stderr).toBe(0);
});

test('systemd takes the unit, and finds little that it may do', (context) => {
  const missing = skipReason(missingPackage('systemd', () => runs(['--version'], 'systemd-analyze')));
  context.skip(missing !== undefined, missing);
  const unit = join(scratch, 'belfry.service');
  // The checkout and Node are elsewhere here.
  writeFileSync(
    unit,
    read('deploy/belfry.service')
      .replaceAll('/usr/bin/node', process.execPath)
      .replaceAll('/opt/belfry', root),
  );
  const analyze = (...args: string[]) => spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  const verified = analyze('verify', '--man=no', unit);
  expect(verified.stderr.split('\n').filter((line) => line.includes('belfry.service'))).toEqual([]);
  expect(verified.status).toBe(0);
  const exposure = analyze('security', '--offline=yes', '--threshold=20', unit);
  expect(exposure.status, exposure.stdout).toBe(0);
});

test('pods of the chart get no variables about services, roll with their Secrets, and are scraped one by one', () => {
  const template = (name: string) => read(`deploy/helm/belfry/templates/${name}.yaml`);
  for (const name of ['deployment', 'migrate'])
    expect(template(name)).toMatch(/^ +enableServiceLinks: false$/m);
  expect(template('deployment')).toMatch(/^ +checksum\/secrets: /m);
  expect(template('monitor')).toMatch(/^kind: PodMonitor$/m);
});

test('the Job of the chart that copies a database can run a second time, as Kubernetes changes no Job', () => {
  const job = read('deploy/helm/belfry/templates/migrate.yaml');
  expect(job).toMatch(/^ +helm\.sh\/hook: post-install,post-upgrade$/m);
  expect(job).toMatch(/^ +helm\.sh\/hook-delete-policy: before-hook-creation$/m);
  // Helm waits for a hook for five minutes, unless it gets another time.
  expect(read('docs/operations.md')).toMatch(/^helm upgrade .*migrate\.enabled=true.*--timeout \d+h$/m);
});

test('what the README and the guide name in deploy/ is there', () => {
  const named = ['README.md', 'docs/operations.md', 'docs/monitoring.md', 'docs/postgresql.md'].flatMap(
    (file) => Array.from(read(file).matchAll(/\bdeploy\/[\w./-]*\w/g), ([path]) => path),
  );
  expect(named.length).toBeGreaterThan(10);
  const missing = named.filter((path) => !path.startsWith('deploy/secrets') && !existsSync(join(root, path)));
  expect(missing).toEqual([]);
});
