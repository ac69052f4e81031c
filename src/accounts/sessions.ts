/** Session cookies, and the short-lived verifications of a sign-in in progress. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { limits } from '#contract/limits.ts';
import { unauthorized } from '#core/errors.ts';
import {
  type AccountRows,
  type AccountStore,
  type NewSession,
  type Renewal,
  type SignedInPerson,
  where,
} from '#core/people/accounts.ts';
import { hashSecret, randomSecret } from '#core/people/secrets.ts';
import type { Visit, WithCookies } from '#core/people/sign-in.ts';

/** A remembered session expires this long after its sign-in. */
const rememberedMs = 30 * 24 * 3_600_000;
/** Any other session expires this long after its last use. */
const idleMs = 12 * 3_600_000;
/** The last use is stored no more often than this. */
const touchMs = 60_000;

/** Every cookie is signed with the server's key. The other cookies hold the token of a pending verification or a trusted device. */
type CookieName = 'session_token' | 'two_factor' | 'trusted_device' | 'passkey' | `provider.${string}`;

interface SessionsOptions {
  readonly store: AccountStore;
  /** Cookies are signed with it. */
  readonly key: string;
  readonly now: () => number;
  readonly onProblem: (message: string, error: unknown) => void;
}

/** What each way to sign in is built on. */
export interface SignInParts {
  readonly store: AccountStore;
  readonly sessions: ReturnType<typeof createSessions>;
  readonly pending: ReturnType<typeof createPending>;
  readonly now: () => number;
}

export function createSessions({ store, key, now, onProblem }: SessionsOptions) {
  /** Stores the last use and extends the session, at most once per `touchMs`, without delaying the request. */
  const keepAlive = ({ session }: SignedInPerson) => {
    const at = now();
    if (at - session.lastSeenAt < touchMs) return;
    const expiresAt = session.remembered ? session.expiresAt : at + idleMs;
    store
      .touchSession(session.id, at, expiresAt)
      .catch((error: unknown) => onProblem('a session could not be kept', error));
  };

  const sessions = {
    /** A whole `Set-Cookie` value; without `maxAgeMs` the cookie lasts until the browser is closed. */
    cookie(origin: string, name: CookieName, value: string, maxAgeMs?: number): string {
      const text = encodeURIComponent(`${value}.${signatureOf(value, key).toString('base64')}`);
      const age = maxAgeMs === undefined ? '' : `; Max-Age=${maxAgeMs / 1000}`;
      return `${fullName(origin, name)}=${text}${age}${attributes(origin)}`;
    },

    /** The value of a cookie of this visit, if this server signed it. */
    readCookie(visit: Pick<Visit, 'origin' | 'cookie'>, name: CookieName) {
      const start = `${fullName(visit.origin, name)}=`;
      const pair = pairsOf(visit).find((each) => each.startsWith(start));
      return pair === undefined ? undefined : verified(pair.slice(start.length).trimEnd(), key);
    },

    /** The person whose session the cookie names; undefined when there is none. Without a cookie there is no query. */
    async identify({
      origin,
      cookie,
    }: Pick<Visit, 'origin' | 'cookie'>): Promise<SignedInPerson | undefined> {
      if (!cookie?.includes('belfry.session_token=')) return undefined;
      const token = sessions.readCookie({ origin, cookie }, 'session_token');
      if (token === undefined) return undefined;
      const found = await store.findSession(hashSecret(token), now());
      if (found) keepAlive(found);
      return found;
    },

    /** As {@link identify}. @throws AppError `unauthorized` when nobody is signed in. */
    async requirePerson(visit: Visit): Promise<SignedInPerson> {
      const found = await sessions.identify(visit);
      if (!found) throw unauthorized();
      return found;
    },

    /** A session that is not stored yet, and its cookie. */
    prepare({ origin, source, userAgent }: Visit, remembered: boolean): WithCookies & { record: NewSession } {
      const token = randomSecret();
      return {
        record: {
          id: uuidv7(),
          tokenHash: hashSecret(token),
          remembered,
          expiresAt: now() + (remembered ? rememberedMs : idleMs),
          address: source,
          userAgent: userAgent?.slice(0, 300) ?? null,
        },
        cookies: [sessions.cookie(origin, 'session_token', token, remembered ? rememberedMs : undefined)],
      };
    },

    /** A new session that will take the place of the current one, and its cookie. */
    renewal(visit: Visit, { session }: SignedInPerson): WithCookies & { renewal: Renewal } {
      const { record, cookies } = sessions.prepare(visit, session.remembered);
      return { renewal: { former: session.id, session: record, at: now() }, cookies };
    },

    /**
     * Signs a person in: stores a new session, and ends the browser's previous one and those beyond the limit. Returns the
     * `Set-Cookie` value.
     */
    async begin(visit: Visit, personId: string, remembered: boolean): Promise<string> {
      const { record, cookies } = sessions.prepare(visit, remembered);
      await store.addSession(personId, record, now());
      const former = await sessions.identify(visit);
      if (former) await store.endSession(former.person.id, former.session.id);
      await store.trimSessions(personId, { most: limits.sessionsPerPerson, newest: record.id });
      return cookies[0] as string;
    },
  };
  return sessions;
}

const pairsOf = ({ cookie = '' }: Pick<Visit, 'cookie'>) => cookie.split(';').map((each) => each.trimStart());

/** What follows the prefix in the names of the visit's cookies that begin with it. */
export function cookiesFrom(visit: Pick<Visit, 'origin' | 'cookie'>, prefix: CookieName): string[] {
  const start = fullName(visit.origin, prefix);
  return pairsOf(visit)
    .filter((each) => each.startsWith(start))
    .map((each) => each.slice(start.length).split('=')[0] ?? '');
}

/** A `Set-Cookie` value that deletes the cookie. */
export function expiredCookie(origin: string, name: CookieName): string {
  return `${fullName(origin, name)}=; Max-Age=0${attributes(origin)}`;
}

/** Over https the name starts with `__Host-`, so that browsers accept it only from this host and not from a subdomain. */
function fullName(origin: string, name: CookieName): string {
  return `${origin.startsWith('https:') ? '__Host-belfry' : 'belfry'}.${name}`;
}

function attributes(origin: string): string {
  return `; Path=/; HttpOnly${origin.startsWith('https:') ? '; Secure' : ''}; SameSite=Lax`;
}

const signatureOf = (value: string, key: string) => createHmac('sha256', key).update(value).digest();

function verified(escaped: string, key: string): string | undefined {
  let text: string;
  try {
    text = decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
  const dot = text.lastIndexOf('.');
  if (dot < 1) return undefined;
  const value = text.slice(0, dot);
  const expected = signatureOf(value, key);
  const given = Buffer.from(text.slice(dot + 1), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : undefined;
}

type PendingKind = 'two-factor' | 'device' | 'passkey' | 'new passkey' | 'provider';

/**
 * Pending verifications: a value that is stored between the two requests of a sign-in step, under a random token. The browser
 * has the token in a cookie; the database has only its hash.
 */
export function createPending(rows: AccountRows, now: () => number) {
  const table = 'verifications';
  const which = (kind: PendingKind, token: string) => [
    where('identifier', hashSecret(`${kind} ${token}`)),
    where('expires_at', now(), '>'),
  ];
  return {
    async create(kind: PendingKind, value: string, lastsMs: number): Promise<string> {
      const token = randomSecret();
      const at = now();
      await rows.insert(table, {
        id: uuidv7(),
        identifier: hashSecret(`${kind} ${token}`),
        value,
        expires_at: at + lastsMs,
        created_at: at,
        updated_at: at,
      });
      return token;
    },

    async find(kind: PendingKind, token: string): Promise<string | undefined> {
      const [row] = await rows.select(table, which(kind, token));
      return row && String(row.value);
    },

    /** Finds and deletes it, so that only one of several parallel callers gets it. */
    async take(kind: PendingKind, token: string): Promise<string | undefined> {
      const [row] = await rows.remove(table, which(kind, token), true);
      return row && String(row.value);
    },
  };
}
