/** How a variable of the environment is declared, and the readers that turn its text into a value. */
import { isIP } from 'node:net';
import { canonicalNetwork } from '#core/addresses.ts';
import { findEmail } from '#core/people/sign-in-fields.ts';
import type { Rate } from '#core/tenants/tenants.ts';

export interface Variable<T, D extends string | undefined> {
  readonly read: Reader<T>;
  /** The text of the default; undefined: not set. */
  readonly default: D;
  /** Never printed, and has a `…_FILE` form. */
  readonly secret: boolean;
  /** The part of a secret that may be printed. */
  readonly show?: (text: string) => string;
  readonly about: string;
}

export const setting = <T>(value: string, read: Reader<T>, about: string): Variable<T, string> => ({
  read,
  default: value,
  secret: false,
  about,
});
export const optional = <T>(read: Reader<T>, about: string): Variable<T, undefined> => ({
  read,
  default: undefined,
  secret: false,
  about,
});
export const optionalSecret = <T>(read: Reader<T>, about: string): Variable<T, undefined> => ({
  ...optional(read, about),
  secret: true,
});

/** The values of some variables. */
export type SettingsOf<Variables> = {
  readonly [N in keyof Variables]: Variables[N] extends Variable<infer T, infer D>
    ? D extends string
      ? T
      : T | undefined
    : never;
};

/** Readers of setting values: each turns the text of a setting into its value. */

/** Reads the text of one setting. @throws InvalidSetting with what would be right, as in "must be …". */
export type Reader<T> = (text: string) => T;

export class InvalidSetting extends Error {}

/** A whole number in plain digits, from `least` to `most`. */
export function wholeNumber(least: number, most: number): Reader<number> {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidSetting(`must be a whole number from ${least} to ${most}`);
  };
}

/** Accepts the word `off` besides the values that `read` accepts. */
export function orOff<T>(read: Reader<T>): Reader<T | 'off'> {
  return (text) => {
    if (text === 'off') return 'off';
    try {
      return read(text);
    } catch (error) {
      throw error instanceof InvalidSetting ? new InvalidSetting(`${error.message}, or off`) : error;
    }
  };
}

export function oneOf<const T extends string>(...words: readonly T[]): Reader<T> {
  return (text) => {
    const found = words.find((word) => word === text.toLowerCase());
    if (found !== undefined) return found;
    throw new InvalidSetting(`must be one of ${words.join(', ')}`);
  };
}

/** `20:200` is 20 per second with a burst of 200. */
export const rate: Reader<Rate> = (text) => {
  const [, perSecond = 0, burst = 0] = (/^(\d{1,9}(?:\.\d{1,6})?):(\d{1,9})$/.exec(text) ?? []).map(Number);
  if (perSecond > 0 && burst >= 1) return { perSecond, burst };
  throw new InvalidSetting('must be <per second>:<burst>, as in 20:200 or 0.5:30, both above zero');
};

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Bytes, with a unit of 1000 (kB, MB, …) or 1024 (KiB, MiB, …) if there is one. */
export const bytes: Reader<number> = (text) => {
  const [, digits = '', unit = ''] = /^(\d{1,15})\s*([a-z]{0,3})$/i.exec(text) ?? [];
  const value = digits === '' ? Number.NaN : Number(digits) * (unitBytes[unit.toLowerCase()] ?? Number.NaN);
  if (Number.isSafeInteger(value)) return value;
  throw new InvalidSetting(
    'must be a number of bytes, as in 67108864 or 64MiB (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)',
  );
};

/** A name or an address to listen on. */
export const host: Reader<string> = (text) => {
  if (isIP(text) || /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text)) return text;
  throw new InvalidSetting(
    'must be a host name or an IP address without brackets or port, as in 0.0.0.0, :: or localhost',
  );
};

/** An absolute http(s) URL, without its trailing slash. */
export const httpUrl: Reader<string> = (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password) {
    return url.href.replace(/\/+$/, '');
  }
  throw new InvalidSetting(
    'must be an absolute http or https URL without user, query or fragment, as in https://belfry.example.org',
  );
};

/** An absolute http(s) URL without a path: pages and links have the paths of the API. */
export const originUrl: Reader<string> = (text) => {
  const url = httpUrl(text);
  if (new URL(url).pathname === '/') return url;
  throw new InvalidSetting(
    'must have no path: Belfry needs a host name of its own, as in https://belfry.example.org',
  );
};

/** The URL of an identity provider. Plain http is allowed on this machine only, as its answers must not be changed on the way. */
export const issuerUrl: Reader<string> = (text) => {
  const url = httpUrl(text);
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) return url;
  throw new InvalidSetting(
    'must be an https URL; http is for a provider on this machine alone (localhost, 127.0.0.1)',
  );
};

/** The file of SQLite, or the address of a PostgreSQL database. */
export type DatabaseSetting =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string };

export const databaseUrl: Reader<DatabaseSetting> = (text) => {
  if (/^postgres(ql)?:/i.test(text)) {
    if (URL.parse(text)?.hostname && /^\/[^/]+$/.test(new URL(text).pathname))
      return { kind: 'postgres', url: withTlsMode(text) };
    throw new InvalidSetting(
      'must name host and database, as in postgres://user:password@host:5432/database',
    );
  }
  const path = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)(?!:)([^?#]+)$/i.exec(text)?.[1];
  if (path !== undefined && !path.endsWith('/')) return { kind: 'sqlite', path };
  throw new InvalidSetting(
    'must be sqlite: and the path of a file, as in sqlite:./data/belfry.db or sqlite:/var/lib/belfry.db, or postgres://user:password@host/database',
  );
};

/** The driver treats `prefer`, `require` and `verify-ca` as `verify-full`, with a warning, and any other word too. */
function withTlsMode(text: string): string {
  const { searchParams } = new URL(text);
  if (searchParams.get('uselibpqcompat') === 'true') return text;
  const mode = searchParams.get('sslmode') ?? 'disable';
  if (!/^(?:disable|no-verify|prefer|require|verify-ca|verify-full)?$/.test(mode))
    throw new InvalidSetting('must have the sslmode verify-full, no-verify or disable');
  return text.replace(/(?<=[?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, 'verify-full');
}

/** A URL as it may be printed. PostgreSQL's may have its password in the query, and the path of a WebSocket may be a secret. */
export function withoutPassword(text: string): string {
  const url = /^sqlite:/i.test(text) ? null : URL.parse(text);
  if (!url) return text;
  const isSecretPath = /^wss?:$/.test(url.protocol) && !/^\/(?:mqtt)?$/.test(url.pathname);
  if (url.password === '' && !url.searchParams.has('password') && !isSecretPath) return text;
  if (isSecretPath) url.pathname = '/********';
  if (url.password !== '') url.password = '********';
  if (url.searchParams.has('password')) url.searchParams.set('password', '********');
  return url.href;
}

export const filePath: Reader<string> = (text) => text;

/** A mail server, with user and password if it requires them. */
export const smtpUrl: Reader<string> = (text) => {
  const url = URL.parse(text);
  if (url && /^smtps?:$/.test(url.protocol) && url.hostname !== '') return text;
  throw new InvalidSetting('must be smtp: or smtps:, as in smtp://user:password@mail.example.org:587');
};

/**
 * How nodes wake each other. `auto`: over PostgreSQL, or within the process on SQLite, which only one process uses. `urls`: the
 * servers of one NATS cluster.
 */
export type BusSetting = 'auto' | 'in-process' | { readonly kind: 'nats'; readonly urls: readonly string[] };

export const busUrl: Reader<BusSetting> = (text) => {
  if (text === 'auto' || text === 'in-process') return text;
  const urls = text.split(',').map((url) => url.trim());
  const [first, ...others] = urls.map((url) => (/^(nats|tls):/i.test(url) ? URL.parse(url) : null));
  if (first?.hostname && others.every((other) => other?.hostname)) {
    // One connection serves all: it has one user, and is encrypted or not.
    if (others.some((other) => other?.protocol !== first.protocol || other.username || other.password))
      throw new InvalidSetting(
        'must have nats:// or tls:// for all servers, and user and password in the first only',
      );
    return { kind: 'nats', urls };
  }
  throw new InvalidSetting(
    'must be auto, in-process, or servers of NATS between commas, as in nats://user:password@127.0.0.1:4222',
  );
};

/** Addresses and CIDR blocks between commas, in canonical form. */
export const networks: Reader<readonly string[]> = (text) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(network);

function network(entry: string): string {
  const canonical = canonicalNetwork(entry);
  if (canonical !== undefined) return canonical;
  throw new InvalidSetting(
    `where ${JSON.stringify(entry)} is wrong: must be IP addresses and CIDR blocks between commas, as in 10.0.0.1,10.1.0.0/16,fd00::/8`,
  );
}

/** Text that fits into one header: no white space, no control characters. */
export const secret: Reader<string> = (text) => {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidSetting('must be printable ASCII characters without white space');
};

export const password: Reader<string> = (text) => text;

/** A few words for people. */
export const label: Reader<string> = (text) => {
  if (text.trim() !== '' && text.length <= 60 && !/\p{Cc}/u.test(text)) return text.trim();
  throw new InvalidSetting('must be 1 to 60 characters');
};

export const email: Reader<string> = (text) => {
  const found = findEmail(text);
  if (found !== undefined) return found;
  throw new InvalidSetting('must be an email address, as in admin@example.org');
};

/** An email address with room before its `@` for what is signed. */
export const replyTo: Reader<string> = (text) => {
  const found = findEmail(text);
  if (found && /^[a-z\d-]{1,8}@/i.test(found)) return found;
  throw new InvalidSetting(
    'must be an email address with at most 8 letters, digits and - before the @, as in belfry@alarms.example.org',
  );
};
