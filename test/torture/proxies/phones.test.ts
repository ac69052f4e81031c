/** Phones behind real proxies: what comes, and what is missed when the proxy or the server is killed. */
import { expect, test } from 'vitest';
import { openGotify } from '#test/support/gotify-client.ts';
import { appHeaders, type NtfyStream, subscribe, subscribeSocket } from '#test/support/ntfy-client.ts';
import { limitMs } from '#test/support/patience.ts';
import { missingHaproxy, startHaproxy } from '../nodes/haproxy.ts';
import { report } from '../report.ts';
import { describeBehind } from './behind.ts';
import { caddy, nginx, type ProxyKind } from './proxy.ts';

const haproxy: ProxyKind = {
  name: 'HAProxy',
  missing: missingHaproxy,
  async start(upstreamPort) {
    const { url, stop } = await startHaproxy([upstreamPort]);
    return { url, stop, port: Number(new URL(url).port), log: () => '' };
  },
};

describeBehind([nginx, caddy, haproxy], { BELFRY_TRUSTED_PROXIES: '127.0.0.1' }, (behind) => {
  const { kind } = behind;
  const send = async (title: string) => {
    const { status } = await behind.post('/api/notify', { title, message: 'M' });
    expect(status).toBe(200);
  };
  const forms = { json: subscribe, ws: subscribeSocket };
  const open = (form: keyof typeof forms, topic: string, since: string) =>
    forms[form](`${behind.proxy.url}/ntfy/${topic}/${form}?since=${since}`, appHeaders(behind.token));
  const titles = ({ events }: NtfyStream) =>
    events.flatMap(({ event, title }) => (event === 'message' ? [title] : []));

  test('messages reach phones of ntfy and Gotify within a second', async () => {
    const streams = [await open('json', 'pocket', 'none'), await open('ws', 'pocket', 'none')];
    const gotify = await openGotify(behind.proxy.url, behind.token);
    const waits: number[] = [];
    for (let i = 0; i < 10; i++) {
      const sentAt = performance.now();
      await send(`soon ${i}`);
      await Promise.all([
        ...streams.map((stream) => stream.next(({ title }) => title === `soon ${i}`)),
        gotify.next(({ title }) => title === `soon ${i}`),
      ]);
      waits.push(performance.now() - sentAt);
    }
    for (const stream of [...streams, gotify]) stream.close();
    const slowest = Math.max(...waits);
    report({
      promise: `messages reach phones through ${kind.name} within 1 s`,
      method: 'ntfy as JSON and as WebSocket, and Gotify',
      count: `${waits.length} messages to 3 streams`,
      result: `slowest ${slowest.toFixed(0)} ms`,
    });
    expect(slowest).toBeLessThan(limitMs(1_000));
  });

  test.for([
    ['json', 'the proxy ends'],
    ['ws', 'the proxy ends'],
    ['json', 'the server is killed'],
    ['ws', 'the server is killed'],
  ] as const)('a phone that reads %s has each message once after %s', async ([form, what]) => {
    const mark = `${form} ${what}`;
    const first = await open(form, 'pocket', 'none');
    await send(`${mark} 0`);
    const { id } = await first.next(({ title }) => title === `${mark} 0`);
    if (what === 'the proxy ends') {
      await behind.proxy.stop();
      behind.proxy = await kind.start(behind.server.port);
    } else {
      await behind.server.end('SIGKILL');
      await behind.restart();
    }
    await first.ended;
    await expect
      .poll(
        () =>
          send(`${mark} 1`).then(
            () => true,
            () => false,
          ),
        { timeout: limitMs(15_000) },
      )
      .toBe(true);
    await send(`${mark} 2`);
    const second = await open(form, 'pocket', id);
    await second.next(({ title }) => title === `${mark} 2`);
    await send(`${mark} 3`);
    await second.next(({ title }) => title === `${mark} 3`);
    expect(titles(second)).toEqual([1, 2, 3].map((n) => `${mark} ${n}`));
    second.close();
  });
});
