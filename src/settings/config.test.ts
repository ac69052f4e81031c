import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { problemsOf } from '#test/support/config-problems.ts';
import { describeConfig, readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'belfry-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('an environment without settings', () => {
  test('gives the documented defaults', () => {
    expect(readConfig({ PATH: '/bin' })).toMatchObject({
      host: '0.0.0.0',
      port: 8080,
      baseUrl: undefined,
      trustedProxies: [],
      database: { kind: 'sqlite', path: './data/belfry.db' },
      keyFile: undefined,
      bus: 'auto',
      rate: {
        token: { perSecond: 20, burst: 200 },
        tenant: { perSecond: 200, burst: 2000 },
        auth: { perSecond: 0.5, burst: 30 },
      },
      retention: { days: 90, count: 1_000_000 },
      intakeQueue: 10_000,
      minFreeBytes: 64 * 2 ** 20,
      heartbeatMs: 15_000,
      drainMs: 8_000,
      log: { level: 'info', format: 'auto' },
      metrics: { token: undefined, host: '127.0.0.1', port: undefined },
      client: { url: 'http://127.0.0.1:8080', token: undefined },
    });
  });

  test('is also what empty values give', () => {
    expect(readConfig({ BELFRY_PORT: '', BELFRY_TOKEN: '', BELFRY_TOKEN_FILE: '' }).port).toBe(8080);
  });

  test('cannot be changed afterwards', () => {
    const config = readConfig({});
    for (const part of [
      config,
      config.database,
      config.rate,
      config.log,
      config.metrics,
      config.trustedProxies,
    ]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });
});

describe('a setting', () => {
  test.each([
    ['BELFRY_PORT', '0', { port: 0 }],
    ['BELFRY_HOST', '::1', { host: '::1' }],
    ['BELFRY_DATABASE_URL', 'sqlite:/var/lib/belfry.db', { database: { path: '/var/lib/belfry.db' } }],
    ['BELFRY_DATABASE_URL', 'sqlite:///var/lib/belfry.db', { database: { path: '/var/lib/belfry.db' } }],
    ['BELFRY_DATABASE_URL', 'sqlite:belfry.db', { database: { path: 'belfry.db' } }],
    [
      'BELFRY_DATABASE_URL',
      'postgres://belfry:secret@db:5433/belfry',
      { database: { kind: 'postgres', url: 'postgres://belfry:secret@db:5433/belfry' } },
    ],
    [
      'BELFRY_DATABASE_URL',
      'postgres://db/belfry?a=b&sslmode=prefer',
      { database: { url: 'postgres://db/belfry?a=b&sslmode=verify-full' } },
    ],
    [
      'BELFRY_DATABASE_URL',
      'postgres://db/belfry?sslmode=&a=b',
      { database: { url: 'postgres://db/belfry?sslmode=&a=b' } },
    ],
    [
      'BELFRY_DATABASE_URL',
      'postgres://db/belfry?sslmode=prefer&uselibpqcompat=true',
      { database: { url: 'postgres://db/belfry?sslmode=prefer&uselibpqcompat=true' } },
    ],
    ['BELFRY_KEY_FILE', '/etc/belfry/key', { keyFile: '/etc/belfry/key' }],
    ['BELFRY_RATE_TOKEN', 'off', { rate: { token: 'off' } }],
    ['BELFRY_RATE_TENANT', '0.5:3', { rate: { tenant: { perSecond: 0.5, burst: 3 } } }],
    ['BELFRY_RATE_API', '100:1000', { rate: { api: { perSecond: 100, burst: 1000 } } }],
    ['BELFRY_RETENTION_DAYS', '7', { retention: { days: 7 } }],
    ['BELFRY_RETENTION_COUNT', 'off', { retention: { count: 'off' } }],
    ['BELFRY_BASE_URL', 'https://belfry.example.org/', { baseUrl: 'https://belfry.example.org' }],
    ['BELFRY_SMTP', ':2525', { listeners: { smtp: { host: undefined, port: 2525 } } }],
    ['BELFRY_SMTP', '[::1]:25', { listeners: { smtp: { host: '::1', port: 25 } } }],
    ['BELFRY_MIN_FREE_BYTES', '0', { minFreeBytes: 0 }],
    ['BELFRY_MIN_FREE_BYTES', '1 GB', { minFreeBytes: 1e9 }],
    ['BELFRY_MIN_FREE_BYTES', '2gib', { minFreeBytes: 2 ** 31 }],
    ['BELFRY_METRICS_PORT', '9090', { metrics: { port: 9090 } }],
    ['BELFRY_METRICS_PORT', '0', { metrics: { port: undefined } }],
    ['BELFRY_LOG_LEVEL', 'DEBUG', { log: { level: 'debug' } }],
    [
      'BELFRY_TRUSTED_PROXIES',
      '10.0.0.1, FD00:0::/8,::ffff:10.0.0.2,10.1.0.0/16',
      { trustedProxies: ['10.0.0.1', 'fd00::/8', '10.0.0.2', '10.1.0.0/16'] },
    ],
  ])('%s=%s is taken', (name, text, expected) => {
    expect(readConfig({ [name]: text })).toMatchObject(expected);
  });

  test.each([
    ['BELFRY_PORT', '65536', 'a whole number from 0 to 65535'],
    ['BELFRY_PORT', '80a', 'a whole number'],
    ['BELFRY_PORT', '-1', 'a whole number'],
    ['BELFRY_HOST', 'a b', 'a host name or an IP address'],
    ['BELFRY_BASE_URL', 'https://example.org/belfry', 'must have no path'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'key', 'as in name=value'],
    ['BELFRY_DATABASE_URL', 'postgres://db', 'postgres://user:password@host'],
    ['BELFRY_DATABASE_URL', 'postgres://db/belfry?sslmode=allow', 'verify-full, no-verify or disable'],
    ['BELFRY_DATABASE_URL', 'mysql://db/belfry', 'postgres://user:password@host'],
    ['BELFRY_DATABASE_URL', './belfry.db', 'sqlite:./data/belfry.db'],
    ['BELFRY_DATABASE_URL', 'sqlite::memory:', 'the path of a file'],
    ['BELFRY_DATABASE_URL', 'sqlite:', 'the path of a file'],
    ['BELFRY_DATABASE_URL', 'sqlite://belfry.db', 'the path of a file'],
    ['BELFRY_BUS_URL', 'nats://', 'servers of NATS'],
    ['BELFRY_BUS_URL', 'redis://bus', 'must be auto'],
    ['BELFRY_BUS_URL', 'nats://a:4222,tls://b:4222', 'for all servers'],
    ['BELFRY_BUS_URL', 'nats://a:4222,nats://user:password@b:4222', 'in the first only'],
    ['BELFRY_SMTP_REPLY_TO', 'too-long-name@example.org', 'must be an email address with at most 8'],
    ['BELFRY_SMTP_REPLY_TO', 'alarms.example.org', 'must be an email address with at most 8'],
    ['BELFRY_SMTP', '25', 'must be an address and a port'],
    ['BELFRY_SMTP', '::1:25', 'must be an address and a port'],
    ['BELFRY_SMTP', '[a]:25', 'must be an address and a port'],
    ['BELFRY_SMTP', ':65536', 'must be an address and a port'],
    ['BELFRY_SMTP', 'a b:25', 'must be a host name'],
    ['BELFRY_SYSLOG_SEVERITY', 'loud', 'one of emerg, alert'],
    ['BELFRY_RATE_TOKEN', '20', 'as in 20:200'],
    ['BELFRY_RATE_TOKEN', '0:200', 'above zero'],
    ['BELFRY_RATE_TOKEN', '20:0', 'or off'],
    ['BELFRY_RETENTION_DAYS', '0', 'from 1'],
    ['BELFRY_BASE_URL', 'belfry.example.org', 'an absolute http or https URL'],
    ['BELFRY_BASE_URL', 'ftp://belfry.example.org', 'an absolute http or https URL'],
    ['BELFRY_MIN_FREE_BYTES', '64 MiX', '64MiB'],
    ['BELFRY_HEARTBEAT_MS', '3000000000', 'to 2147483647'],
    ['BELFRY_LOG_FORMAT', 'xml', 'one of auto, pretty, json'],
    ['BELFRY_TRUSTED_PROXIES', '10.0.0.1,10.0.0.0/33', '"10.0.0.0/33"'],
    ['BELFRY_TRUSTED_PROXIES', '::ffff:10.0.0.0/104', 'CIDR blocks between commas'],
    ['BELFRY_TRUSTED_PROXIES', 'proxy.example.org', 'CIDR blocks between commas'],
  ])('%s=%s is refused with what would be right', (name, text, hint) => {
    const problems = problemsOf({ [name]: text });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(name);
    expect(problems[0]).toContain(hint);
  });
});

test('an unknown name is refused with the nearest known one, if one is near', () => {
  const given = { BELFRY_PROT: '1', BELFRY_PORT_FILE: '/x', BELFRY_DATA_DIR: '/x' };
  expect(problemsOf(given)).toEqual([
    'BELFRY_DATA_DIR is not a setting; docs/configuration.md lists all settings',
    'BELFRY_PORT_FILE is not a setting: only secrets come from files; set BELFRY_PORT itself',
    'BELFRY_PROT is not a setting; did you mean BELFRY_PORT?',
  ]);
});

test('all problems are reported at once', () => {
  const problems = problemsOf({ BELFRY_PORT: 'x', BELFRY_RATE_TOKEN: 'fast', BELFRY_COLOUR: 'red' });
  expect(problems).toHaveLength(3);
});

describe('a secret', () => {
  test('can come from a file, without its last line break', () => {
    const config = readConfig({
      BELFRY_METRICS_TOKEN_FILE: file('lf', 'abc\n'),
      BELFRY_TOKEN_FILE: file('crlf', 'def\r\n'),
    });
    expect([config.metrics.token, config.client.token]).toEqual(['abc', 'def']);
  });

  test('given both ways is refused', () => {
    expect(problemsOf({ BELFRY_TOKEN: 'abc', BELFRY_TOKEN_FILE: file('both', 'abc') })).toEqual([
      'BELFRY_TOKEN and BELFRY_TOKEN_FILE are both set: keep one of them',
    ]);
  });

  test('whose file cannot be read is refused with the reason', () => {
    const [problem] = problemsOf({ BELFRY_TOKEN_FILE: join(folder, 'missing') });
    expect(problem).toContain('BELFRY_TOKEN cannot be read');
    expect(problem).toContain('ENOENT');
  });

  test('is never part of a problem', () => {
    const [problem] = problemsOf({ BELFRY_METRICS_TOKEN: 'open sesame' });
    expect(problem).toContain('BELFRY_METRICS_TOKEN');
    expect(problem).not.toContain('sesame');
  });
});

describe('the description of a configuration', () => {
  test('shows where the database is, without its password', () => {
    const text = describeConfig(readConfig({ BELFRY_DATABASE_URL: 'postgres://belfry:sesame@db/belfry' }));
    expect(text).toContain('BELFRY_DATABASE_URL=postgres://belfry:********@db/belfry\n');
    expect(describeConfig(readConfig({}))).toContain('BELFRY_DATABASE_URL=sqlite:./data/belfry.db\n');
    const inQuery = readConfig({ BELFRY_DATABASE_URL: 'postgres://db/belfry?user=belfry&password=sesame' });
    expect(describeConfig(inQuery)).toContain('postgres://db/belfry?user=belfry&password=********\n');
    const broker = readConfig({
      BELFRY_MQTT_URL: 'wss://belfry:sesame@broker/open-sesame',
      BELFRY_MQTT_TOKEN: 'token',
    });
    expect(describeConfig(broker)).toContain('BELFRY_MQTT_URL=wss://belfry:********@broker/********\n');
  });

  test('shows every effective value and no secret', () => {
    const text = describeConfig(readConfig({ BELFRY_PORT: '9000', BELFRY_TOKEN: 'sesame' }));
    expect(text).toContain('BELFRY_PORT=9000\n');
    expect(text).toContain('BELFRY_RATE_TOKEN=20:200\n');
    expect(text).toContain('BELFRY_TOKEN=********\n');
    expect(text).toContain('BELFRY_METRICS_TOKEN=\n');
    expect(text).not.toContain('sesame');
  });

  test('can be read back', () => {
    const config = readConfig({ BELFRY_RATE_AUTH: '1:2', BELFRY_TRUSTED_PROXIES: '10.0.0.0/8' });
    const env = Object.fromEntries(
      describeConfig(config, { explain: true })
        .split('\n')
        .filter((line) => line.includes('=') && !line.startsWith('#'))
        .map((line) => line.split('=') as [string, string]),
    );
    expect(readConfig(env)).toEqual(config);
  });
});

describe('settings that belong together', () => {
  test.each([
    [
      { BELFRY_ADMIN_EMAIL: 'a@example.org' },
      'BELFRY_ADMIN_EMAIL and BELFRY_ADMIN_PASSWORD belong together: set both, or neither',
    ],
    [
      { BELFRY_SYSLOG_UDP: ':5514' },
      'BELFRY_SYSLOG_TOKEN is needed for syslog: set it to a token with the scope notify',
    ],
    [
      { BELFRY_SMTP_REPLY_TO: 'belfry@alarms.example.org' },
      'BELFRY_SMTP is needed for BELFRY_SMTP_REPLY_TO: set it to the address for email, as in :2525',
    ],
    [
      { BELFRY_TLS_CERT_FILE: 'x' },
      'BELFRY_TLS_CERT_FILE and BELFRY_TLS_KEY_FILE belong together: set both, or neither',
    ],
    [
      { BELFRY_SYSLOG_TLS: ':6514', BELFRY_SYSLOG_TOKEN: 'x' },
      'BELFRY_TLS_CERT_FILE and BELFRY_TLS_KEY_FILE are needed for BELFRY_SYSLOG_TLS',
    ],
    [
      { BELFRY_OIDC_CLIENT_ID: 'x' },
      'BELFRY_OIDC_ISSUER and BELFRY_OIDC_CLIENT_ID belong together: set both, or neither',
    ],
    [
      { BELFRY_OIDC_CLIENT_SECRET: 'x' },
      'BELFRY_OIDC_CLIENT_SECRET is of no use without BELFRY_OIDC_ISSUER: set both, or neither',
    ],
    [
      { BELFRY_NTFY_UPSTREAM: 'https://ntfy.sh' },
      'BELFRY_BASE_URL is needed for BELFRY_NTFY_UPSTREAM: phones and this server must name the same address',
    ],
    [
      { BELFRY_NTFY_UPSTREAM_TOKEN: 'tk_a' },
      'BELFRY_NTFY_UPSTREAM_TOKEN is of no use without BELFRY_NTFY_UPSTREAM: set both, or neither',
    ],
    [
      { BELFRY_ADMIN_EMAIL: 'a@example.org', BELFRY_ADMIN_PASSWORD: 'password123' },
      'BELFRY_ADMIN_PASSWORD is one of the most common ones: take several words that do not belong together',
    ],
    [
      { BELFRY_OIDC_ISSUER: 'http://id.example.org', BELFRY_OIDC_CLIENT_ID: 'x' },
      'BELFRY_OIDC_ISSUER is "http://id.example.org": must be an https URL; http is for a provider on this machine alone (localhost, 127.0.0.1)',
    ],
    [
      { BELFRY_ADMIN_EMAIL: 'a@localhost', BELFRY_ADMIN_PASSWORD: 'four plain boxes' },
      'BELFRY_ADMIN_EMAIL is "a@localhost": must be an email address, as in admin@example.org',
    ],
  ])('%j is one problem', (env, problem) => {
    expect(problemsOf(env)).toEqual([problem]);
  });

  test('are reported together with an error in one of them', () => {
    expect(problemsOf({ BELFRY_ADMIN_EMAIL: 'a' })).toEqual([
      'BELFRY_ADMIN_EMAIL is "a": must be an email address, as in admin@example.org',
      'BELFRY_ADMIN_EMAIL and BELFRY_ADMIN_PASSWORD belong together: set both, or neither',
    ]);
  });

  test.each(['http://localhost:8080', 'http://127.0.0.1', 'http://[::1]:1', 'https://id.example.org'])(
    'a provider may be at %s',
    (issuer) => {
      const env = { BELFRY_OIDC_ISSUER: issuer, BELFRY_OIDC_CLIENT_ID: 'x' };
      expect(readConfig(env).oidc).toMatchObject({ issuer });
    },
  );

  test('are given together, or not at all', () => {
    expect(readConfig({})).toMatchObject({ admin: undefined, oidc: undefined });
    const env = {
      BELFRY_ADMIN_EMAIL: 'A@Example.org',
      BELFRY_ADMIN_PASSWORD: 'four plain boxes',
      BELFRY_OIDC_ISSUER: 'https://id.example.org/',
      BELFRY_OIDC_CLIENT_ID: 'belfry',
    };
    expect(readConfig(env)).toMatchObject({
      admin: { email: 'a@example.org', password: 'four plain boxes' },
      oidc: { issuer: 'https://id.example.org', clientId: 'belfry', name: 'Single sign-on' },
    });
  });
});

test.each([
  [{}, 'belfry'],
  [{ OTEL_RESOURCE_ATTRIBUTES: 'service.name=alarms' }, 'alarms'],
  [{ OTEL_SERVICE_NAME: 'wall', OTEL_RESOURCE_ATTRIBUTES: 'service.name=alarms' }, 'wall'],
  [{ OTEL_SERVICE_NAME: 'belfry', OTEL_RESOURCE_ATTRIBUTES: 'service.name=alarms' }, 'belfry'],
])('of %j, traces have the service name %s', (env, name) => {
  const { tracing } = readConfig({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' });
  expect(tracing?.resource['service.name']).toBe(name);
});

test('variables that Kubernetes makes for services are ignored, with one warning', () => {
  const links = {
    BELFRY_PORT: 'tcp://10.96.0.7:80',
    BELFRY_PORT_80_TCP: 'tcp://10.96.0.7:80',
    BELFRY_PORT_80_TCP_ADDR: '10.96.0.7',
    BELFRY_PORT_80_TCP_PORT: '80',
    BELFRY_PORT_80_TCP_PROTO: 'tcp',
    BELFRY_SERVICE_HOST: '10.96.0.7',
    BELFRY_SERVICE_PORT: '80',
    BELFRY_SERVICE_PORT_HTTP: '80',
    BELFRY_METRICS_PORT: 'tcp://10.96.0.8:9464',
    BELFRY_POSTGRES_SERVICE_HOST: '10.96.0.9',
    BELFRY_POSTGRES_PORT: 'tcp://10.96.0.9:5432',
  };
  const config = readConfig({ ...links, BELFRY_HOST: '::1' });
  expect(config).toMatchObject({ host: '::1', port: 8080, metrics: { port: undefined } });
  expect(config.warnings).toEqual([expect.stringContaining('BELFRY_METRICS_PORT, BELFRY_PORT,')]);
  for (const name of Object.keys(links)) expect(config.warnings[0]).toContain(name);
  expect(readConfig({ BELFRY_PORT: '9000' }).warnings).toEqual([]);
  expect(problemsOf({ BELFRY_PORT: 'http://10.96.0.7' })).toHaveLength(1);
  expect(problemsOf({ BELFRY_PORT_X: '80', BELFRY_SERVICES: '80' })).toHaveLength(2);
});

describe('the settings of MQTT', () => {
  const token = { BELFRY_MQTT_TOKEN: 'bfy_x' };
  test.each<[Record<string, string>, RegExp]>([
    ...['http://a:hunter2@b', 'mqtt://b/topic', 'wss://a:hunter2@b/mqtt?key=hunter2', 'ws://b/#a'].map(
      (url): [Record<string, string>, RegExp] => [
        { ...token, BELFRY_MQTT_URL: url },
        /^BELFRY_MQTT_URL must be mqtt:, mqtts:, ws: or wss:/,
      ],
    ),
    [{ BELFRY_MQTT_URL: 'mqtt://b' }, /^BELFRY_MQTT_TOKEN is needed/],
    ...['a#', 'a/+b', '#/a', ' , ', '$share/g/a'].map((filter): [Record<string, string>, RegExp] => [
      { BELFRY_MQTT_TOPICS: filter },
      /^BELFRY_MQTT_TOPICS is .* must be topic filters/,
    ]),
    [{ BELFRY_MQTT_CLIENT_ID: 'a b' }, /^BELFRY_MQTT_CLIENT_ID is .* must be 1 to 64 letters/],
  ])('%j is one problem, without the password', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(problem)]);
    expect(problemsOf(env).join()).not.toContain('hunter2');
  });

  test.each(['mqtts://u:hunter2@b', 'wss://u:hunter2@b/mqtt'])('name a broker, and topics: %s', (url) => {
    const { listeners, effective } = readConfig({
      ...{ ...token, BELFRY_MQTT_URL: url },
      BELFRY_MQTT_TOPICS: 'a/#, +/b,#',
    });
    expect(listeners?.mqtt).toEqual({
      ...{ url, topics: ['a/#', '+/b', '#'], token: 'bfy_x', clientId: 'belfry' },
    });
    expect(JSON.stringify(effective)).not.toContain('hunter2');
  });
});
