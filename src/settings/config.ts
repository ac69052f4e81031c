/** Reads the environment, once and completely. Nothing else of the server reads it. */
import { readFileSync } from 'node:fs';
import { offerNearest } from '#core/search/search-nearest.ts';
import {
  adminOf,
  boundsOf,
  channelVariables,
  groupChannelSettings,
  listenerProblems,
  listenersOf,
  listenerVariables,
  oidcOf,
  peopleVariables,
  problemsBetween,
  tenantVariables,
  tracingOf,
  tracingVariables,
  upstreamOf,
  upstreamProblems,
  upstreamVariables,
} from './groups.ts';
import {
  busUrl,
  bytes,
  databaseUrl,
  filePath,
  host,
  httpUrl,
  InvalidSetting,
  networks,
  oneOf,
  optional,
  optionalSecret,
  originUrl,
  orOff,
  rate,
  type SettingsOf,
  secret,
  setting,
  type Variable,
  wholeNumber,
  withoutPassword,
} from './values.ts';

const port = wholeNumber(0, 65_535);
/** Node fires a longer timer at once. */
const longestTimerMs = 2 ** 31 - 1;

const variables = {
  BELFRY_HOST: setting('0.0.0.0', host, 'address to listen on'),
  BELFRY_PORT: setting('8080', port, 'port to listen on; 0 takes a free one'),
  BELFRY_BASE_URL: optional(
    originUrl,
    'address at which people and panels reach this server; links and cookies depend on it',
  ),
  BELFRY_TRUSTED_PROXIES: setting(
    '',
    networks,
    'addresses and CIDR blocks of proxies whose X-Forwarded-For and Forwarded are trusted, as in 10.0.0.1,fd00::/8',
  ),
  BELFRY_DATABASE_URL: {
    ...setting(
      'sqlite:./data/belfry.db',
      databaseUrl,
      'where everything is stored: sqlite: and a file, or postgres://user:password@host/database',
    ),
    secret: true,
    show: withoutPassword,
  },
  BELFRY_KEY_FILE: optional(
    filePath,
    'the server key; by default beside the SQLite file, or ./data/belfry.key. Nodes of one database need the same key',
  ),
  BELFRY_BUS_URL: {
    ...setting(
      'auto',
      busUrl,
      'how nodes wake each other: auto uses LISTEN and NOTIFY of PostgreSQL; nats://user:password@host:4222 uses NATS',
    ),
    secret: true,
    show: (text: string) => text.split(',').map(withoutPassword).join(','),
  },
  ...channelVariables,
  ...upstreamVariables,
  BELFRY_RATE_TOKEN: setting('20:200', orOff(rate), 'notifications of one token, per second : burst, or off'),
  BELFRY_RATE_TENANT: setting(
    '200:2000',
    orOff(rate),
    'notifications of one tenant, per second : burst, or off',
  ),
  BELFRY_RATE_AUTH: setting(
    '0.5:30',
    orOff(rate),
    'failed authentications of one source address, per second : burst, or off',
  ),
  BELFRY_RATE_API: setting(
    '50:500',
    orOff(rate),
    'other requests of one token, key or session, per second : burst, or off; all of a tenant together have 20 times that',
  ),
  BELFRY_RETENTION_DAYS: setting(
    '90',
    orOff(wholeNumber(1, 36_500)),
    'days that history is kept (1 to 36500), or off',
  ),
  BELFRY_RETENTION_COUNT: setting(
    '1000000',
    orOff(wholeNumber(1, 1e12)),
    'notifications kept for each tenant, or off',
  ),
  BELFRY_INTAKE_QUEUE: setting(
    '10000',
    wholeNumber(1, 1e6),
    'notifications that may wait for the disk (1 to 1000000); more get 503',
  ),
  BELFRY_MIN_FREE_BYTES: setting(
    '64MiB',
    bytes,
    'free disk space below which notifications are refused, as in 500MB or 1GiB',
  ),
  ...tenantVariables,
  BELFRY_HEARTBEAT_MS: setting(
    '15000',
    wholeNumber(100, longestTimerMs),
    'milliseconds between two heartbeats of a stream (at least 100)',
  ),
  BELFRY_DRAIN_MS: setting(
    '8000',
    wholeNumber(0, longestTimerMs),
    'milliseconds to finish running requests when the server stops',
  ),
  BELFRY_LOG_LEVEL: setting(
    'info',
    oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
    'lowest level of log lines: trace, debug, info, warn, error, fatal or silent',
  ),
  BELFRY_LOG_FORMAT: setting(
    'auto',
    oneOf('auto', 'pretty', 'json'),
    'pretty, json, or auto: pretty on a terminal, otherwise json',
  ),
  BELFRY_LOG_REQUESTS: setting(
    'off',
    oneOf('on', 'off'),
    'on: a log line for each request, with its id, method, path, status and milliseconds',
  ),
  BELFRY_METRICS_TOKEN: optionalSecret(secret, 'bearer token for /metrics'),
  BELFRY_METRICS_HOST: setting('127.0.0.1', host, 'address of the separate listener for /metrics'),
  BELFRY_METRICS_PORT: setting(
    'off',
    orOff(port),
    'port of the separate listener for /metrics; 0 or off for none',
  ),
  ...peopleVariables,
  ...listenerVariables,
  ...tracingVariables,
  BELFRY_URL: setting(
    'http://127.0.0.1:8080',
    httpUrl,
    'server that commands such as belfry send and belfry tail talk to',
  ),
  BELFRY_TOKEN: optionalSecret(secret, 'API token that these commands use'),
};

type Variables = typeof variables;
type Name = keyof Variables;
type Settings = SettingsOf<Variables>;

const names = Object.keys(variables) as Name[];
const prefix = 'BELFRY_';
const fileSuffix = '_FILE';
const mask = '********';

export type Config = ReturnType<typeof groupSettings>;

/** All problems of the environment, one line each. */
export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/**
 * Reads every setting from `given` and, for secrets, from the files that it names. An empty value counts as not set.
 *
 * @throws ConfigError with all problems at once.
 */
export function readConfig(given: Environment): Config {
  const { own: env, warnings } = withoutServiceLinks(given);
  const problems = unknownNames(env);
  const settings: Record<string, unknown> = {};
  const effective: Effective[] = [];
  for (const name of names) {
    const {
      read,
      default: fallback,
      secret: isSecret,
      show = () => mask,
      about,
    } = variables[name] as Variable<unknown, string | undefined>;
    try {
      const text = textOf(env, name, isSecret) ?? fallback;
      settings[name] = text === undefined ? undefined : read(text);
      effective.push({ name, about, text: isSecret && text !== undefined ? show(text) : (text ?? '') });
    } catch (error) {
      if (!(error instanceof InvalidSetting)) throw error;
      problems.push(`${name} ${shown(env[name], isSecret)}${error.message}`);
    }
  }
  problems.push(...problemsBetween(settings), ...listenerProblems(settings), ...upstreamProblems(settings));
  if (problems.length > 0) throw new ConfigError(problems);
  return groupSettings(settings as Settings, effective, warnings);
}

/** The effective settings as `NAME=value` lines for an env file; secrets are masked. `explain` puts a comment over each. */
export function describeConfig({ effective }: Config, { explain = false } = {}): string {
  return effective
    .map(({ name, text, about }) => `${explain ? `# ${about}\n` : ''}${name}=${text}\n`)
    .join('');
}

type Environment = Readonly<Record<string, string | undefined>>;

const linkAddress = /^(?:tcp|udp|sctp):\/\//;
const linkNames = /^BELFRY_(?:\w+_)?(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_\w+)?)$/;

/**
 * Kubernetes gives each pod variables about the services of its namespace ("service links"). A service whose name begins with
 * "belfry" makes some that look like settings: BELFRY_PORT=tcp://10.96.0.7:80, BELFRY_SERVICE_HOST, BELFRY_PORT_80_TCP_ADDR …
 */
const isServiceLink = (name: string, value = '') =>
  linkNames.test(name) || (/^BELFRY_(?:\w+_)?PORT$/.test(name) && linkAddress.test(value));

/** The environment without service links, and one warning if there were any. */
function withoutServiceLinks(env: Environment): { own: Environment; warnings: readonly string[] } {
  const links = Object.keys(env).filter((name) => isServiceLink(name, env[name]));
  if (links.length === 0) return { own: env, warnings: [] };
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !links.includes(name)));
  const warning = `ignored, because Kubernetes made them and they are not settings: ${links.sort().join(', ')}; set enableServiceLinks: false in the pod`;
  return { own, warnings: [warning] };
}

interface Effective {
  readonly name: Name;
  readonly text: string;
  readonly about: string;
}

/** Unknown names with the prefix BELFRY_. Otherwise a typo would silently leave a default active. */
function unknownNames(env: Environment): string[] {
  const known = names.flatMap((name) => (variables[name].secret ? [name, name + fileSuffix] : [name]));
  return Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name))
    .sort()
    .map((name) => {
      const plain = name.endsWith(fileSuffix) ? name.slice(0, -fileSuffix.length) : name;
      if (known.includes(plain))
        return `${name} is not a setting: only secrets come from files; set ${plain} itself`;
      const { nearest } = offerNearest(
        name.slice(prefix.length),
        known.map((one) => one.slice(prefix.length)),
      );
      const hint =
        nearest.length === 1
          ? `did you mean ${prefix}${nearest[0]}?`
          : 'docs/configuration.md lists all settings';
      return `${name} is not a setting; ${hint}`;
    });
}

/** The value of a variable or of the file that it names; undefined if not set. */
function textOf(env: Environment, name: Name, isSecret: boolean): string | undefined {
  const text = env[name] || undefined;
  const path = isSecret ? env[name + fileSuffix] || undefined : undefined;
  if (path === undefined) return text;
  if (text !== undefined) throw new InvalidSetting(`and ${name}${fileSuffix} are both set: keep one of them`);
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '') || undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InvalidSetting(`cannot be read from the file that ${name}${fileSuffix} names (${reason})`);
  }
}

function shown(text: string | undefined, isSecret: boolean): string {
  return isSecret || !text ? '' : `is ${JSON.stringify(text)}: `;
}

/** The settings, grouped by the part that uses them. */
function groupSettings(settings: Settings, effective: readonly Effective[], warnings: readonly string[]) {
  return Object.freeze({
    host: settings.BELFRY_HOST,
    port: settings.BELFRY_PORT,
    baseUrl: settings.BELFRY_BASE_URL,
    trustedProxies: Object.freeze(settings.BELFRY_TRUSTED_PROXIES),
    database: Object.freeze(settings.BELFRY_DATABASE_URL),
    channels: groupChannelSettings(settings),
    ntfyUpstream: upstreamOf(settings, settings.BELFRY_BASE_URL),
    keyFile: settings.BELFRY_KEY_FILE,
    bus: settings.BELFRY_BUS_URL,
    rate: Object.freeze({
      token: settings.BELFRY_RATE_TOKEN,
      tenant: settings.BELFRY_RATE_TENANT,
      auth: settings.BELFRY_RATE_AUTH,
      api: settings.BELFRY_RATE_API,
    }),
    retention: Object.freeze({
      days: settings.BELFRY_RETENTION_DAYS,
      count: settings.BELFRY_RETENTION_COUNT,
    }),
    bounds: boundsOf(settings),
    intakeQueue: settings.BELFRY_INTAKE_QUEUE,
    minFreeBytes: settings.BELFRY_MIN_FREE_BYTES,
    heartbeatMs: settings.BELFRY_HEARTBEAT_MS,
    drainMs: settings.BELFRY_DRAIN_MS,
    log: Object.freeze({
      level: settings.BELFRY_LOG_LEVEL,
      format: settings.BELFRY_LOG_FORMAT,
      requests: settings.BELFRY_LOG_REQUESTS === 'on',
    }),
    metrics: Object.freeze({
      token: settings.BELFRY_METRICS_TOKEN,
      host: settings.BELFRY_METRICS_HOST,
      port: settings.BELFRY_METRICS_PORT === 'off' ? undefined : settings.BELFRY_METRICS_PORT || undefined,
    }),
    admin: adminOf(settings),
    oidc: oidcOf(settings),
    listeners: listenersOf(settings),
    tracing: tracingOf(settings),
    client: Object.freeze({ url: settings.BELFRY_URL, token: settings.BELFRY_TOKEN }),
    effective: Object.freeze(effective),
    /** For the log, when a server starts. */
    warnings: Object.freeze(warnings),
  });
}
