/** Memory of a server with 10,000 idle panels, and what 1,000 panels that stop reading cost while 1 GiB is published to each. */

import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, ServerProcess } from '../test/support/server-process.ts';
import { bearer, fire } from './http-load.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { connectPanels, registerPanel, subscribe } from './processes.ts';
import { table, whole } from './statistics.ts';

const idlePanels = Number(process.env.BENCH_PANELS ?? 10_000);
const stalledPanels = 1_000;
/** Published in all, as the log counts it: what a panel that read would have been sent. */
const published = 1024;
const mib = (value: number) => `${value.toFixed(0)} MiB`;

const folder = benchFolder();
try {
  const { token } = await credentials(folder);
  const idle = await beside(token, async (server, ids) => {
    const before = residentMiB(server.pid);
    const requests = Array.from({ length: idlePanels }, (_, i) =>
      subscribe(ids[i % ids.length] as string, token),
    );
    const readers = await connectPanels(server.port, requests);
    await sleep(10_000);
    const with_ = residentMiB(server.pid);
    readers.disconnect();
    return { before, after: with_ };
  });
  const stalled = await beside(token, async (server, ids) => {
    const sockets = await stall(server.port, ids, token);
    const before = residentMiB(server.pid);
    let most = before;
    const watch = setInterval(() => {
      most = Math.max(most, residentMiB(server.pid));
    }, 200);
    const events = await publish(server.url, token);
    clearInterval(watch);
    for (const socket of sockets) socket.destroy();
    return { before, after: most, events };
  });
  const verdict = (reached: boolean) => (reached ? 'reached' : 'missed');
  const grown = stalled.after - stalled.before;
  console.log(
    table([
      ['what', 'before', 'at most', 'goal'],
      [
        `${whole(idlePanels)} idle panels`,
        mib(idle.before),
        mib(idle.after),
        `≤ 250 MiB: ${verdict(idle.after <= 250)}`,
      ],
      [
        `${whole(stalledPanels)} stalled panels while ${mib(published)} is published (${whole(stalled.events)} notifications)`,
        mib(stalled.before),
        `${mib(stalled.after)} (+${mib(grown)})`,
        `+ ≤ 128 MiB: ${verdict(grown <= 128)}`,
      ],
    ]),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function beside<T>(
  token: string,
  work: (server: ServerProcess, ids: string[]) => Promise<T>,
): Promise<T> {
  const server = await ServerProcess.start({ folder });
  try {
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        registerPanel(server.url, token, `wall ${process.hrtime.bigint()}-${i}`),
      ),
    );
    await sleep(4_000);
    return await work(server, ids);
  } finally {
    await server.end('SIGTERM');
  }
}

/** Connections that ask for a stream and never read it. */
async function stall(port: number, ids: readonly string[], token: string): Promise<Socket[]> {
  return Promise.all(
    Array.from(
      { length: stalledPanels },
      (_, i) =>
        new Promise<Socket>((resolve, reject) => {
          const socket = connect(port, '127.0.0.1', () => {
            socket.pause();
            socket.write(subscribe(ids[i % ids.length] as string, token));
            resolve(socket);
          });
          socket.on('error', reject);
        }),
    ),
  );
}

/** A gibibyte of text, 16 KiB a notification; answers how many. */
async function publish(url: string, token: string): Promise<number> {
  const message = 'x'.repeat(16_000);
  const body = JSON.stringify({ title: 'Much to say', message });
  let sent = 0;
  while (sent * body.length < published * 2 ** 20) {
    const { perSecond } = await fire({
      url: `${url}/api/notify`,
      headers: [bearer(token)],
      body,
      connections: 32,
      seconds: 5,
    });
    sent += Math.round(perSecond * 5);
  }
  return sent;
}
