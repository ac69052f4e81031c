import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { Receiver } from '../support/receiver.ts';
import { TestServer } from '../support/server.ts';
import { endServers, ServerProcess } from '../support/server-process.ts';

test('a kill between sending and recording: each is delivered at least once, in order, with its own id', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-channels-'));
  const receiver = await Receiver.start();
  const env = { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' };
  try {
    const setUp = await TestServer.start(env, folder);
    const [token, key] = [await setUp.token(), await setUp.key('admin')];
    const settings = { url: receiver.url };
    const channel = { name: 'hook', kind: 'webhook', settings };
    await setUp.call('POST', '/api/channels', { token: key, json: channel });
    await setUp.call('POST', '/api/rules', { token: key, json: { name: 'r', then: { channels: ['hook'] } } });
    await setUp.stop({ keep: true });

    // The second delivery has arrived and is never answered: its result is not recorded.
    receiver.answer = ({ json }) => (json.data.title === '2' ? new Promise(() => undefined) : {});
    const first = await ServerProcess.start({ folder, env });
    const ids: string[] = [];
    for (let n = 1; n <= 5; n++) {
      const answer = await fetch(`${first.url}/api/notify`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ title: `${n}`, message: 'm' }),
      });
      ids.push(((await answer.json()) as { id: string }).id);
    }
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await first.end('SIGKILL');
    receiver.answer = undefined;
    await ServerProcess.start({ folder, env });
    await eventually(() => expect(receiver.received).toHaveLength(6));
    expect(receiver.received.map(({ json }) => json.data.title)).toEqual(['1', '2', '2', '3', '4', '5']);
    const repeats = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect([...new Set(repeats)]).toEqual(ids);
  } finally {
    await endServers();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
