/** The settings of listeners for other protocols than HTTP; none of them is open by default. */
import { isIP } from 'node:net';
import {
  filePath,
  host,
  InvalidSetting,
  networks,
  oneOf,
  type Reader,
  secret,
  withoutPassword,
} from './values.ts';
import { optional, optionalSecret, type SettingsOf, setting } from './variable.ts';

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
  if (url && /^mqtts?:$/.test(url.protocol) && url.hostname !== '' && /^\/?$/.test(url.pathname)) return text;
  throw new InvalidSetting('must be mqtt: or mqtts:, as in mqtt://user:password@broker.example.org:1883');
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
    ...optionalSecret(mqttUrl, 'broker to take notifications from, as in mqtt://user:password@host:1883'),
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
export function listenerProblems(of: Partial<ListenerSettings>): string[] {
  const problems: string[] = [];
  const isOpen = of.BELFRY_SYSLOG_UDP ?? of.BELFRY_SYSLOG_TCP ?? of.BELFRY_SYSLOG_TLS;
  if (isOpen && 'BELFRY_SYSLOG_TOKEN' in of && of.BELFRY_SYSLOG_TOKEN === undefined)
    problems.push('BELFRY_SYSLOG_TOKEN is needed for syslog: set it to a token with the scope notify');
  if (of.BELFRY_MQTT_URL && 'BELFRY_MQTT_TOKEN' in of && of.BELFRY_MQTT_TOKEN === undefined)
    problems.push('BELFRY_MQTT_TOKEN is needed for MQTT: set it to a token with the scope notify');
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
