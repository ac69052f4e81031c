import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { passwordCost } from '#accounts/passwords.ts';
import type { Role, Scope } from '#contract/people/token.ts';
import type { CredentialRecord } from '#core/tenants/directory.ts';
import type { RateSetting } from '#core/tenants/tenants.ts';
import { type RunningServer, startServer } from '#server/app.ts';
import { createLogger } from '#server/log.ts';
import { readConfig } from '#settings/config.ts';
import { full } from '../torture/counts.ts';
import { noteOutput } from './failure-notes.ts';
import { type OpenApiCheck, openApiCheckOf } from './openapi-check.ts';
import { openStream, type SseReader } from './sse-client.ts';
import { addCredential } from './storage.ts';
import { storeSettings } from './test-store.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what came
  readonly json: any;
}

export interface CallOptions {
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly json?: unknown;
}

/** A tenant that no other test has. */
export interface TestTenant {
  readonly tenant: string;
  /** With every scope. */
  readonly token: string;
  /** Of an admin. */
  readonly key: string;
  /** With the key. */
  call(method: string, path: string, json?: unknown): Promise<Answer>;
  /** Sends a notification with the token; resolves with its id. */
  send(over?: object, headers?: Record<string, string>): Promise<string>;
}

/** A lower cost for tests. src/accounts/passwords.test.ts checks the usual cost. */
if (!full) passwordCost.memory = 1_024;

const documents = new Map<string, Promise<string>>();

/** Servers with the same routes have the same document, so it is built once: that takes as long as a start. */
async function checkOf({ routes, url }: RunningServer): Promise<OpenApiCheck> {
  const names = routes.map((route) => `${route.method} ${route.url}`).join();
  const document = documents.get(names) ?? fetch(`${url}/openapi.json`).then((answer) => answer.text());
  documents.set(names, document);
  return openApiCheckOf(await document);
}

/** A real server with its own database, in this process. Every answer is checked against its OpenAPI document. */
export class TestServer {
  readonly running: RunningServer;
  readonly folder: string;
  /** The lines of its log. */
  readonly log: readonly string[];
  readonly #check: OpenApiCheck;
  #tenants = 0;

  private constructor(running: RunningServer, folder: string, log: readonly string[], check: OpenApiCheck) {
    this.running = running;
    this.folder = folder;
    this.log = log;
    this.#check = check;
  }

  static async start(
    env: Record<string, string> = {},
    folder = mkdtempSync(join(tmpdir(), 'belfry-test-')),
  ): Promise<TestServer> {
    const config = readConfig({
      BELFRY_HOST: '127.0.0.1',
      BELFRY_PORT: '0',
      ...(env.BELFRY_DATABASE_URL === undefined && storeSettings(folder)),
      BELFRY_MIN_FREE_BYTES: '0',
      BELFRY_DRAIN_MS: '1000',
      BELFRY_LOG_LEVEL: 'error',
      BELFRY_RATE_API: 'off',
      ...env,
    });
    const lines: string[] = [];
    const note = noteOutput('server');
    const write = (line: string) => {
      lines.push(line);
      note(line);
    };
    const log = createLogger({ level: config.log.level, format: 'json' }, { write });
    const running = await startServer(config, log);
    return new TestServer(running, folder, lines, await checkOf(running));
  }

  get url(): string {
    return this.running.url;
  }

  async call(
    method: string,
    path: string,
    { token, headers, body, json }: CallOptions = {},
  ): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json !== undefined
        ? { body: JSON.stringify(json) }
        : body !== undefined
          ? { body: body as RequestInit['body'] & {} }
          : {}),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    const error = response.headers.get('belfry-error');
    this.#check.hold(method, path, { status: response.status, type, error, body: text });
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: type.startsWith('application/json') && text !== '' ? JSON.parse(text) : undefined,
    };
  }

  notify(token: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call('POST', '/api/notify', { token, json, headers });
  }

  /** Registers a panel and opens its stream; resolves once `ready` has arrived. */
  async panel(
    token: string,
    name: string,
    options: { tags?: string[]; cursor?: string } = {},
  ): Promise<{ id: string; stream: SseReader }> {
    const { json } = await this.call('POST', '/api/panels', {
      token,
      json: { name, ...(options.tags && { tags: options.tags }) },
    });
    const stream = await this.stream(`/api/panels/${json.id}/events`, token, options.cursor);
    await stream.next(({ event }) => event === 'ready');
    return { id: json.id, stream };
  }

  stream(
    path: string,
    token: string | undefined,
    cursor?: string,
    headers: Record<string, string> = {},
  ): Promise<SseReader> {
    return openStream(this.url + path, {
      ...headers,
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(cursor !== undefined && { 'last-event-id': cursor }),
    });
  }

  async tenant(name = 'default'): Promise<number> {
    const { tenants } = this.running.directory;
    return ((await tenants.findByName(name)) ?? (await tenants.create(name, name, 'test', Date.now()))).id;
  }

  async newTenant(): Promise<TestTenant> {
    this.#tenants += 1;
    const tenant = `tenant-${this.#tenants}`;
    const [token, key] = [await this.token({ tenant }), await this.key('admin', tenant)];
    return {
      ...{ tenant, token, key },
      call: (method, path, json) => this.call(method, path, { token: key, json }),
      send: async (over = {}, headers = {}) =>
        (await this.notify(token, { title: 't', message: 'm', level: 'error', ...over }, headers)).json.id,
    };
  }

  async token(
    options: Partial<
      Pick<CredentialRecord, 'scopes' | 'expiresAt' | 'allowFrom' | 'allowInUrl' | 'name' | 'panelId'>
    > & {
      tenant?: string;
      rate?: RateSetting;
    } = {},
  ): Promise<string> {
    const { tenant, ...rest } = options;
    return addCredential(this.running.directory, 'token', await this.tenant(tenant), {
      scopes: ['notify', 'panel', 'metrics'] satisfies Scope[],
      rate: 'off',
      ...rest,
    });
  }

  async key(role: Role = 'admin', tenant?: string): Promise<string> {
    return addCredential(this.running.directory, 'key', await this.tenant(tenant), { role });
  }

  /** Stops the server. With `keep` its folder stays for another one. */
  async stop({ keep = false } = {}): Promise<void> {
    await this.running.stop();
    if (!keep) rmSync(this.folder, { recursive: true, force: true });
  }
}
