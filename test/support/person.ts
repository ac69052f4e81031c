/** People in a real server's database, and browsers that are signed in as them. */
import { createHmac, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { uuidv7 } from 'uuidv7';
import { openKeyFile } from '#accounts/key-file.ts';
import { hashPassword } from '#accounts/passwords.ts';
import type { Role } from '#contract/people/token.ts';
import { hashSecret } from '#core/people/secrets.ts';
import type { Answer, CallOptions, TestServer } from './server.ts';

export const password = 'four plain brown boxes';
/** One hash for all people, because hashing is slow. */
let passwordHash: Promise<string> | undefined;

export interface TestPerson {
  readonly id: string;
  readonly email: string;
  readonly name: string;
}

/** Creates a person with {@link password} as a member of a tenant, and the tenant if necessary. */
export async function makePerson(
  server: TestServer,
  role: Role,
  { tenant = 'default', email = `${randomBytes(5).toString('hex')}@example.org`, name = 'Anna' } = {},
): Promise<TestPerson> {
  passwordHash ??= hashPassword(password);
  const person = {
    id: uuidv7(),
    email,
    name,
    emailVerified: true,
    signInWith: { passwordHash: await passwordHash },
  };
  const member = { tenant: await server.tenant(tenant), role };
  if (!(await server.running.accounts.addMember(person, member, 'test', Date.now())))
    throw new Error(`${email} is taken`);
  return person;
}

/** A session of the person as a `Cookie` header, without the sign-in. */
export async function sessionCookie(server: TestServer, { id }: Pick<TestPerson, 'id'>): Promise<string> {
  const token = randomBytes(24).toString('base64url');
  const now = Date.now();
  await server.running.accounts.rows.insert('sessions', {
    id: uuidv7(),
    token_hash: hashSecret(token),
    person: id,
    remembered: 0,
    created_at: now,
    last_seen_at: now,
    expires_at: now + 3_600_000,
    address: '127.0.0.1',
    user_agent: 'test',
  });
  const signature = createHmac('sha256', openKeyFile(join(server.folder, 'belfry.db.key'))).update(token);
  return `belfry.session_token=${encodeURIComponent(`${token}.${signature.digest('base64')}`)}`;
}

/** A browser for a server: it keeps cookies, and sends the Origin of its pages. */
export class TestBrowser {
  readonly #server: TestServer;
  readonly #cookies = new Map<string, string>();
  readonly #headers: Record<string, string>;

  constructor(server: TestServer, headers: Record<string, string> = {}) {
    this.#server = server;
    this.#headers = { origin: server.url, ...headers };
  }

  /** A browser in which the person is signed in already. */
  static async of(
    server: TestServer,
    person: Pick<TestPerson, 'id'>,
    headers: Record<string, string> = {},
  ): Promise<TestBrowser> {
    const browser = new TestBrowser(server, headers);
    browser.keep(await sessionCookie(server, person));
    return browser;
  }

  /** The headers of every request. */
  get headers(): Record<string, string> {
    const cookie = this.cookie;
    return { ...this.#headers, ...(cookie !== '' && { cookie }) };
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Takes a cookie, as `name=value` with or without attributes; Max-Age=0 drops it. */
  keep(setCookie: string): void {
    const [pair = ''] = setCookie.split(';');
    const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    if (/; *max-age=0/i.test(setCookie)) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }

  async call(method: string, path: string, { headers, ...options }: CallOptions = {}): Promise<Answer> {
    const answer = await this.#server.call(method, path, {
      ...options,
      headers: { ...this.headers, ...headers },
    });
    for (const setCookie of answer.headers.getSetCookie()) this.keep(setCookie);
    return answer;
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, json: unknown): Promise<Answer> {
    return this.call('POST', path, { json });
  }
}
