import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection } from '../../support/raw-http.ts';
import { credentials, endServers, ServerProcess } from '../../support/server-process.ts';
import { report } from '../report.ts';
import { caddy, nginx, nothing, type ProxyKind, type StartedProxy } from './proxy.ts';
import { attacks } from './smuggling.ts';

describe.each([nothing, nginx, caddy])('behind $name', (kind: ProxyKind) => {
  const missing = kind.missing();
  // Where it cannot be had this is a failure for CI, and a gap that is told for everyone else.
  if (missing !== undefined && process.env.CI) throw new Error(missing);
  if (missing !== undefined) {
    test.skip(missing);
    return;
  }

  let folder: string;
  let server: ServerProcess;
  let proxy: StartedProxy;
  let token: string;
  let key: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belfry-smuggling-'));
    ({ token, key } = await credentials(folder));
    server = await ServerProcess.start({ folder, env: { BELFRY_RATE_AUTH: 'off' } });
    proxy = await kind.start(server.port);
  });
  afterAll(async () => {
    await proxy?.stop();
    await endServers();
    rmSync(folder, { recursive: true, force: true });
  });

  const history = async (): Promise<readonly { id: string; title: string }[]> => {
    const response = await fetch(`${server.url}/api/history?limit=200`, {
      headers: { authorization: `Bearer ${key}` },
    });
    return ((await response.json()) as { notifications: { id: string; title: string }[] }).notifications;
  };
  const send = async (title: string): Promise<string> => {
    const response = await fetch(`${proxy.url}/api/notify`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ title, message: 'M' }),
    });
    return ((await response.json()) as { id: string }).id;
  };

  test('no request is smuggled past it, and nobody is given the answer to another’s', async () => {
    let seconds = 0;
    for (const [i, [name, make]] of attacks.entries()) {
      const mark = `smuggled ${i}`;
      const attacker = await RawConnection.open(proxy.url);
      await attacker.write(make(`Bearer ${token}`, mark));
      await attacker.next(2, 700).catch(() => undefined);
      for (let victim = 0; victim < 3; victim++) {
        const title = `victim ${i} ${victim}`;
        const id = await send(title);
        expect([name, (await history()).find((each) => each.id === id)?.title]).toEqual([name, title]);
      }
      attacker.close();
      const stored = (await history()).filter((each) => each.title === mark).length;
      // A second request is one that its sender is answered for, or it was none.
      const welcomed = attacker.answers.slice(1).filter(({ status }) => status === 200).length;
      expect([name, stored <= welcomed]).toEqual([name, true]);
      seconds += stored;
    }
    report({
      promise: kind === nothing ? 'nothing is smuggled' : `nothing is smuggled through ${kind.name}`,
      method:
        'lengths and codings that two parsers may read differently, each followed by other clients on shared connections',
      count: `${attacks.length} forms, ${attacks.length * 3} other clients`,
      result: `0 smuggled, 0 answers to the wrong client; ${seconds} times what followed was a request of its own, answered to its sender`,
    });
  });
});
