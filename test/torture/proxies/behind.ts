import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { endServers, ServerProcess } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { credentials } from '#test/support/storage.ts';
import type { ProxyKind, StartedProxy } from './proxy.ts';

/** A server behind a proxy, with a token and a key for it. */
export class Behind {
  readonly folder = mkdtempSync(join(tmpdir(), 'belfry-behind-'));
  readonly kind: ProxyKind;
  readonly #env: Readonly<Record<string, string>>;
  server!: ServerProcess;
  proxy!: StartedProxy;
  token = '';
  key = '';

  constructor(kind: ProxyKind, env: Readonly<Record<string, string>>) {
    this.kind = kind;
    this.#env = { BELFRY_RATE_AUTH: 'off', ...env };
  }

  async start(): Promise<void> {
    ({ token: this.token, key: this.key } = await credentials(this.folder));
    this.server = await ServerProcess.start({ folder: this.folder, env: this.#env });
    this.proxy = await this.kind.start(this.server.port);
  }

  /** The server, which has ended, is back where it was. */
  async restart(): Promise<void> {
    const { port } = this.server;
    this.server = await ServerProcess.start({ folder: this.folder, port, env: this.#env });
  }

  async stop(): Promise<void> {
    await this.proxy?.stop();
    await endServers();
    rmSync(this.folder, { recursive: true, force: true });
  }

  bearer(): { readonly authorization: string } {
    return { authorization: `Bearer ${this.token}` };
  }

  /** Through the proxy. */
  post(path: string, body: unknown): Promise<Response> {
    return fetch(this.proxy.url + path, {
      method: 'POST',
      headers: { ...this.bearer(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /** As the server itself tells it. */
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into what came
  async history(): Promise<any[]> {
    const response = await fetch(`${this.server.url}/api/history?limit=200`, {
      headers: { authorization: `Bearer ${this.key}` },
    });
    return ((await response.json()) as { notifications: unknown[] }).notifications;
  }
}

/** The same tests behind each kind of proxy, on a server with these settings. */
export function describeBehind(
  kinds: readonly ProxyKind[],
  env: Readonly<Record<string, string>>,
  tests: (behind: Behind) => void,
): void {
  describe.each(kinds)('behind $name', (kind) => {
    const missing = skipReason(kind.missing());
    if (missing !== undefined) {
      test.skip(missing);
      return;
    }
    const behind = new Behind(kind, env);
    beforeAll(() => behind.start());
    afterAll(() => behind.stop());
    tests(behind);
  });
}
