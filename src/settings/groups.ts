/** The settings of the parts of a server: their variables, and the values that the part gets. */
import { isIP } from 'node:net';
import { passwordProblem } from '#core/people/sign-in-fields.ts';
import type { TenantBounds } from '#core/tenants/tenants.ts';
import {
  email,
  filePath,
  host,
  httpUrl,
  InvalidSetting,
  issuerUrl,
  label,
  networks,
  oneOf,
  optional,
  optionalSecret,
  orOff,
  password,
  type Reader,
  rate,
  replyTo,
  type SettingsOf,
  secret,
  setting,
  smtpUrl,
  wholeNumber,
  withoutPassword,
} from './values.ts';

export const peopleVariables = {
  BELFRY_ADMIN_EMAIL: optional(
    email,
    'email address of the owner that is created when there is no account yet',
  ),
  BELFRY_ADMIN_PASSWORD: optionalSecret(password, 'password of that owner'),
  BELFRY_OIDC_ISSUER: optional(issuerUrl, 'identity provider (OpenID Connect) that people may sign in with'),
  BELFRY_OIDC_CLIENT_ID: optional(secret, 'client id of this server at the provider'),
  BELFRY_OIDC_CLIENT_SECRET: optionalSecret(
    secret,
    'client secret at the provider; none for a public client',
  ),
  BELFRY_OIDC_NAME: setting('Single sign-on', label, 'name of the provider on the sign-in page'),
};

type PeopleSettings = SettingsOf<typeof peopleVariables>;

/** Problems between settings. A setting with an error is not in `of`, but it is set. */
export function problemsBetween(of: Partial<PeopleSettings>): string[] {
  const problems: string[] = [];
  const isSet = (name: keyof PeopleSettings) => !(name in of) || of[name] !== undefined;
  const together = (a: keyof PeopleSettings, b: keyof PeopleSettings) => {
    if (isSet(a) !== isSet(b)) problems.push(`${a} and ${b} belong together: set both, or neither`);
  };
  together('BELFRY_ADMIN_EMAIL', 'BELFRY_ADMIN_PASSWORD');
  together('BELFRY_OIDC_ISSUER', 'BELFRY_OIDC_CLIENT_ID');
  const { BELFRY_ADMIN_EMAIL: address, BELFRY_ADMIN_PASSWORD: chosen } = of;
  const problem = chosen === undefined ? undefined : passwordProblem(chosen, address ? [address] : []);
  if (problem !== undefined) problems.push(`BELFRY_ADMIN_PASSWORD ${problem}`);
  if (of.BELFRY_OIDC_CLIENT_SECRET !== undefined && 'BELFRY_OIDC_ISSUER' in of && !of.BELFRY_OIDC_ISSUER)
    problems.push('BELFRY_OIDC_CLIENT_SECRET is of no use without BELFRY_OIDC_ISSUER: set both, or neither');
  return problems;
}

/** The owner to create if there is no account. */
export function adminOf({ BELFRY_ADMIN_EMAIL: email, BELFRY_ADMIN_PASSWORD: password }: PeopleSettings) {
  return email === undefined || password === undefined ? undefined : Object.freeze({ email, password });
}

export function oidcOf(of: PeopleSettings) {
  const { BELFRY_OIDC_ISSUER: issuer, BELFRY_OIDC_CLIENT_ID: clientId } = of;
  if (issuer === undefined || clientId === undefined) return undefined;
  return Object.freeze({
    issuer,
    clientId,
    clientSecret: of.BELFRY_OIDC_CLIENT_SECRET,
    name: of.BELFRY_OIDC_NAME,
  });
}

/** The operator's upper bounds of the settings of tenants. */

export const tenantVariables = {
  BELFRY_MAX_TENANTS: setting(
    'off',
    orOff(wholeNumber(0, 1_000_000)),
    'tenants up to which owners may create further ones; the command line always may',
  ),
  BELFRY_MAX_TENANT_RATE: setting(
    'off',
    orOff(rate),
    'the most that a tenant may set as its rate; also bounds BELFRY_RATE_TENANT',
  ),
  BELFRY_MAX_RETENTION_DAYS: setting(
    'off',
    orOff(wholeNumber(1, 36_500)),
    'the most days that a tenant may keep history; also bounds BELFRY_RETENTION_DAYS',
  ),
  BELFRY_MAX_RETENTION_COUNT: setting(
    'off',
    orOff(wholeNumber(1, 1e12)),
    'the most notifications that a tenant may keep; also bounds BELFRY_RETENTION_COUNT',
  ),
};

export const boundsOf = (
  of: SettingsOf<typeof tenantVariables>,
): TenantBounds & { tenants: number | 'off' } =>
  Object.freeze({
    tenants: of.BELFRY_MAX_TENANTS,
    rate: of.BELFRY_MAX_TENANT_RATE,
    retentionDays: of.BELFRY_MAX_RETENTION_DAYS,
    retentionCount: of.BELFRY_MAX_RETENTION_COUNT,
  });

/** The settings of channels. */

export const channelVariables = {
  BELFRY_OUTBOUND_ALLOW: setting(
    '',
    networks,
    'networks that channels and calendars may reach although they are not public, as in 10.0.0.0/8',
  ),
  BELFRY_SMTP_URL: {
    ...optionalSecret(
      smtpUrl,
      'mail server for channels that name none, as in smtp://user:password@host:587',
    ),
    show: withoutPassword,
  },
  BELFRY_SMTP_FROM: optional(email, 'address that its mails come from'),
  BELFRY_SMTP_REPLY_TO: optional(
    replyTo,
    'address at which BELFRY_SMTP takes replies to mails of channels, as in belfry@alarms.example.org',
  ),
  BELFRY_SMTP_PER_HOUR: setting(
    '1000',
    orOff(wholeNumber(50, 1_000_000)),
    'mails of each tenant in an hour, one for each recipient, or off; further mails wait',
  ),
};

type ChannelSettings = SettingsOf<typeof channelVariables>;

/** What wakes iPhones. */
export const upstreamVariables = {
  BELFRY_NTFY_UPSTREAM: optional(
    httpUrl,
    'server of ntfy that wakes the ntfy app on iPhones, https://ntfy.sh; it gets hashes and ids, no text. Needs BELFRY_BASE_URL',
  ),
  BELFRY_NTFY_UPSTREAM_TOKEN: optionalSecret(secret, 'token of an account there'),
};

type UpstreamSettings = SettingsOf<typeof upstreamVariables>;

/** Undefined: iPhones are not woken. */
export function upstreamOf(of: UpstreamSettings, baseUrl: string | undefined) {
  const { BELFRY_NTFY_UPSTREAM: url, BELFRY_NTFY_UPSTREAM_TOKEN: token } = of;
  if (url === undefined || baseUrl === undefined) return undefined;
  return Object.freeze({ url, token, server: `${baseUrl}/ntfy` });
}

export function upstreamProblems(
  of: Partial<UpstreamSettings> & { readonly BELFRY_BASE_URL?: string | undefined },
): string[] {
  const isSet = of.BELFRY_NTFY_UPSTREAM !== undefined;
  if (isSet && 'BELFRY_BASE_URL' in of && of.BELFRY_BASE_URL === undefined)
    return [
      'BELFRY_BASE_URL is needed for BELFRY_NTFY_UPSTREAM: phones and this server must name the same address',
    ];
  if (!isSet && 'BELFRY_NTFY_UPSTREAM' in of && of.BELFRY_NTFY_UPSTREAM_TOKEN !== undefined)
    return ['BELFRY_NTFY_UPSTREAM_TOKEN is of no use without BELFRY_NTFY_UPSTREAM: set both, or neither'];
  return [];
}

export function groupChannelSettings(settings: ChannelSettings) {
  const { BELFRY_SMTP_URL: url, BELFRY_SMTP_FROM: from, BELFRY_SMTP_PER_HOUR: perHour } = settings;
  return Object.freeze({
    allow: Object.freeze(settings.BELFRY_OUTBOUND_ALLOW),
    mail: url === undefined ? undefined : Object.freeze({ url, from, perHour }),
    replyTo: settings.BELFRY_SMTP_REPLY_TO,
  });
}

/** The settings of listeners for other protocols than HTTP; none of them is open by default. */

export interface ListenAddress {
  /** Undefined: every address of this machine. */
  readonly host: string | undefined;
  readonly port: number;
}

const listenAddress: Reader<ListenAddress> = (text) => {
  const [, name = '', digits = ''] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
  const bare = /^\[(.*)\]$/.exec(name)?.[1] ?? name;
  const isValid = digits !== '' && Number(digits) <= 65_535 && (name === bare || isIP(bare) === 6);
  if (!isValid || (name === bare && bare.includes(':')))
    throw new InvalidSetting('must be an address and a port, as in :5514, 127.0.0.1:5514 or [::1]:5514');
  return { host: bare === '' ? undefined : host(bare), port: Number(digits) };
};

const mqttUrl: Reader<string> = (text) => {
  const url = URL.parse(text);
  // Only WebSocket has a path. A query would show a secret.
  const isForm =
    url && (/^wss?:$/.test(url.protocol) || (/^mqtts?:$/.test(url.protocol) && /^\/?$/.test(url.pathname)));
  if (isForm && url.hostname !== '' && url.search === '' && url.hash === '') return text;
  throw new InvalidSetting(
    'must be mqtt:, mqtts:, ws: or wss:, as in mqtt://user:password@broker.example.org:1883 or wss://user:password@broker.example.org/mqtt',
  );
};

const topicFilters: Reader<readonly string[]> = (text) => {
  const filters = text
    .split(',')
    .map((filter) => filter.trim())
    .filter((filter) => filter !== '');
  // + and # stand for whole levels, # for the last ones only.
  const wrong = filters.find(
    (filter) => filter.startsWith('$share/') || /[^/][+#]|[+#][^/]|#\/|\0/.test(filter),
  );
  if (filters.length > 0 && wrong === undefined) return filters;
  throw new InvalidSetting('must be topic filters between commas, as in alerts/#,zigbee2mqtt/+/alarm');
};

const clientId: Reader<string> = (text) => {
  if (/^[\w.-]{1,64}$/.test(text)) return text;
  throw new InvalidSetting('must be 1 to 64 letters, digits, dots, hyphens and underscores');
};

const privateNetworks = '127.0.0.0/8,::1/128,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7,fe80::/10';

export const listenerVariables = {
  BELFRY_SYSLOG_UDP: optional(listenAddress, 'address for syslog over UDP, as in :5514'),
  BELFRY_SYSLOG_TCP: optional(listenAddress, 'address for syslog over TCP, as in :5514'),
  BELFRY_SYSLOG_TLS: optional(listenAddress, 'address for syslog over TLS, as in :6514'),
  BELFRY_SYSLOG_TOKEN: optionalSecret(secret, 'API token that syslog messages are stored with'),
  BELFRY_SYSLOG_ALLOW: setting(
    privateNetworks,
    networks,
    'networks that may send syslog; by default the private ones',
  ),
  BELFRY_SYSLOG_SEVERITY: setting(
    'notice',
    oneOf('emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'),
    'least serious syslog messages to store',
  ),
  BELFRY_SMTP: optional(listenAddress, 'address for email over SMTP, as in :2525'),
  BELFRY_SMTP_ALLOW: setting('0.0.0.0/0,::/0', networks, 'networks that may send email; by default all'),
  BELFRY_MQTT_URL: {
    ...optionalSecret(
      mqttUrl,
      'broker to take notifications from, as in mqtt://user:password@host:1883 or wss://user:password@host/mqtt',
    ),
    show: withoutPassword,
  },
  BELFRY_MQTT_TOPICS: setting(
    'belfry/#',
    topicFilters,
    'topic filters to subscribe to, with commas in between',
  ),
  BELFRY_MQTT_TOKEN: optionalSecret(secret, 'API token that messages of MQTT are stored with'),
  BELFRY_MQTT_CLIENT_ID: setting(
    'belfry',
    clientId,
    'client id at the broker: each installation has its own',
  ),
  BELFRY_TLS_CERT_FILE: optional(filePath, 'certificates in PEM for syslog over TLS and STARTTLS'),
  BELFRY_TLS_KEY_FILE: optional(filePath, 'private key of BELFRY_TLS_CERT_FILE, in PEM'),
};

export type ListenerSettings = SettingsOf<typeof listenerVariables>;

/** Problems between settings that are valid on their own; settings with an error are left out. */
export function listenerProblems(of: Partial<ListenerSettings & ChannelSettings>): string[] {
  const problems: string[] = [];
  const isOpen = of.BELFRY_SYSLOG_UDP ?? of.BELFRY_SYSLOG_TCP ?? of.BELFRY_SYSLOG_TLS;
  if (isOpen && 'BELFRY_SYSLOG_TOKEN' in of && of.BELFRY_SYSLOG_TOKEN === undefined)
    problems.push('BELFRY_SYSLOG_TOKEN is needed for syslog: set it to a token with the scope notify');
  if (of.BELFRY_MQTT_URL && 'BELFRY_MQTT_TOKEN' in of && of.BELFRY_MQTT_TOKEN === undefined)
    problems.push('BELFRY_MQTT_TOKEN is needed for MQTT: set it to a token with the scope notify');
  if (of.BELFRY_SMTP_REPLY_TO && 'BELFRY_SMTP' in of && of.BELFRY_SMTP === undefined)
    problems.push(
      'BELFRY_SMTP is needed for BELFRY_SMTP_REPLY_TO: set it to the address for email, as in :2525',
    );
  const [cert, key] = ['BELFRY_TLS_CERT_FILE', 'BELFRY_TLS_KEY_FILE'] as const;
  if (cert in of && key in of && (of[cert] === undefined) !== (of[key] === undefined))
    problems.push(`${cert} and ${key} belong together: set both, or neither`);
  if (of.BELFRY_SYSLOG_TLS && cert in of && of[cert] === undefined)
    problems.push(`${cert} and ${key} are needed for BELFRY_SYSLOG_TLS`);
  return problems;
}

/** Undefined when none is open. */
export function listenersOf(of: ListenerSettings) {
  const { BELFRY_SYSLOG_UDP: udp, BELFRY_SYSLOG_TCP: tcp, BELFRY_SYSLOG_TLS: tls, BELFRY_SMTP: smtp } = of;
  const { BELFRY_MQTT_URL: broker } = of;
  if (!(udp ?? tcp ?? tls ?? smtp ?? broker)) return undefined;
  const { BELFRY_TLS_CERT_FILE: certFile, BELFRY_TLS_KEY_FILE: keyFile } = of;
  return Object.freeze({
    syslog: Object.freeze({
      ...{ udp, tcp, tls },
      token: of.BELFRY_SYSLOG_TOKEN ?? '',
      allow: of.BELFRY_SYSLOG_ALLOW,
      least: of.BELFRY_SYSLOG_SEVERITY,
    }),
    smtp: smtp && Object.freeze({ ...smtp, allow: of.BELFRY_SMTP_ALLOW }),
    mqtt:
      broker === undefined
        ? undefined
        : Object.freeze({
            url: broker,
            topics: of.BELFRY_MQTT_TOPICS,
            token: of.BELFRY_MQTT_TOKEN ?? '',
            clientId: of.BELFRY_MQTT_CLIENT_ID,
          }),
    tlsFiles: certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile },
  });
}

/** The settings of traces, under the names that OpenTelemetry gave them. */

const share: Reader<number> = (text) => {
  const value = /^(?:\d+(?:\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= 0 && value <= 1) return value;
  throw new InvalidSetting('must be a number from 0 to 1, as in 0.1');
};

/** `name=value,name=value`, values percent-encoded. @throws Error */
function pairsOf(text: string): [name: string, value: string][] {
  return text.split(',').map((pair) => {
    const [name = '', value] = pair.split(/=(.*)/s).map((part) => decodeURIComponent(part.trim()));
    if (name === '' || value === undefined) throw new Error('a pair without name or "="');
    return [name, value];
  });
}

/** Other programs set this variable, too: an unreadable pair is left out, because it must not prevent a start. */
const attributes: Reader<Readonly<Record<string, string>>> = (text) =>
  Object.fromEntries(
    text.split(',').flatMap((pair) => {
      try {
        return pairsOf(pair);
      } catch {
        return [];
      }
    }),
  );

const headerList: Reader<Readonly<Record<string, string>>> = (text) => {
  try {
    return Object.fromEntries(new Headers(pairsOf(text)));
  } catch {
    throw new InvalidSetting('must be names and values of headers, as in name=value,name=value');
  }
};

export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    httpUrl,
    'OpenTelemetry collector that gets traces, as OTLP over HTTP in JSON; without it there are no traces',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: optionalSecret(
    headerList,
    'headers of each request to the collector, as in name=value,name=value',
  ),
  OTEL_SERVICE_NAME: optional(
    label,
    'name of this server in traces; without it service.name of OTEL_RESOURCE_ATTRIBUTES, or belfry',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optional(
    attributes,
    'what else traces say about this server, as in deployment.environment.name=production,host.name=web-1',
  ),
  OTEL_TRACES_SAMPLER_ARG: setting(
    '1',
    share,
    'share of the traces that begin here and are sent, from 0 to 1',
  ),
};

type TracingSettings = SettingsOf<typeof tracingVariables>;

/** Undefined: nothing is traced. */
export function tracingOf(of: TracingSettings) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers = {} } = of;
  if (endpoint === undefined) return undefined;
  const ratio = of.OTEL_TRACES_SAMPLER_ARG;
  const given = of.OTEL_RESOURCE_ATTRIBUTES;
  const resource = { ...given, 'service.name': of.OTEL_SERVICE_NAME ?? given?.['service.name'] ?? 'belfry' };
  return Object.freeze({ endpoint, headers, resource: Object.freeze(resource), ratio });
}
