/**
 * Memory of a server with 10,000 idle panels, compared with a bare HTTP server with as many open responses; and the cost of 1,000
 * panels that read nothing while 1 GiB is published to each, compared with publishing alone.
 */
import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { limits } from '#contract/limits.ts';
import { ServerProcess } from '#test/support/server-process.ts';
import { credentials } from '#test/support/storage.ts';
import { bearer, runLoad } from './http-load.ts';
import { benchFolder, residentMiB } from './machine.ts';
import { connectPanels, registerPanel, subscribe } from './processes.ts';
import { table, whole } from './statistics.ts';

const idlePanels = Number(process.env.BENCH_PANELS ?? 10_000);
const stalledPanels = 1_000;
/** The MiB published in total: what a reading panel would have received. */
const published = 1024;
const longMessage = 'x'.repeat(16_000);
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
  const bare = await bareServer();
  const alone = await beside(token, (server) => whilePublishing(server, token));
  const stalled = await beside(token, async (server, ids) => {
    await fillLiveSet(server.url, token);
    const before = residentMiB(server.pid);
    const sockets = await stall(server.port, ids, token);
    const found = await whilePublishing(server, token, before);
    for (const socket of sockets) socket.destroy();
    return found;
  });
  const verdict = (reached: boolean) => (reached ? 'reached' : 'missed');
  const ofPanels = stalled.after - stalled.before - (alone.after - alone.before);
  const grown = ({ before, after }: Grown) => `${mib(after)} (+${mib(after - before)})`;
  console.log(
    table([
      ['what', 'before', 'at most', 'goal'],
      [
        `${whole(idlePanels)} idle panels`,
        mib(idle.before),
        grown(idle),
        `≤ 250 MiB: ${verdict(idle.after <= 250)}`,
      ],
      [
        `a bare HTTP server of the same runtime, ${whole(idlePanels)} open answers`,
        mib(bare.before),
        grown(bare),
        '',
      ],
      [
        `${whole(stalledPanels)} panels that read nothing, of ${limits.liveSet} long notifications on each, while ${mib(published)} is published (${whole(stalled.events)} notifications)`,
        mib(stalled.before),
        grown(stalled),
        `of it for the panels + ≤ 128 MiB: ${ofPanels > 0 ? '+' : ''}${mib(ofPanels)}, ${verdict(ofPanels <= 128)}`,
      ],
      [
        `as much published without any panel (${whole(alone.events)} notifications)`,
        mib(alone.before),
        grown(alone),
        '',
      ],
    ]),
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

interface Grown {
  readonly before: number;
  readonly after: number;
}

/** The memory of open responses in the runtime itself. */
async function bareServer(): Promise<Grown> {
  const script = fileURLToPath(new URL('./open-answers-server.ts', import.meta.url));
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', script];
  const server = await ServerProcess.run(command, process.env, { status: null });
  try {
    await sleep(4_000);
    const before = residentMiB(server.pid);
    const requests = Array.from({ length: idlePanels }, () => subscribe('0'.repeat(36), '0'.repeat(50)));
    const readers = await connectPanels(server.port, requests);
    await sleep(10_000);
    const after = residentMiB(server.pid);
    readers.disconnect();
    return { before, after };
  } finally {
    await server.end('SIGTERM');
  }
}

/** The highest memory while a gibibyte is published. */
async function whilePublishing(
  server: ServerProcess,
  token: string,
  before = residentMiB(server.pid),
): Promise<Grown & { events: number }> {
  let after = before;
  const watch = setInterval(() => {
    after = Math.max(after, residentMiB(server.pid));
  }, 200);
  const events = await publish(server.url, token);
  clearInterval(watch);
  return { before, after, events };
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

/** Opens connections that request a stream and never read it. */
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

/** Fills the live set with the most notifications of the longest kind. */
async function fillLiveSet(url: string, token: string): Promise<void> {
  const headers = { ...bearer(token), 'content-type': 'application/json' };
  const body = JSON.stringify({ title: 'Much to say', message: longMessage, level: 'critical' });
  for (let i = 0; i < limits.liveSet; i++) {
    const { status } = await fetch(`${url}/api/notify`, { method: 'POST', headers, body });
    if (status !== 200) throw new Error(`a notification is answered ${status}`);
  }
}

/** Publishes a gibibyte of text, 16 KiB a notification; returns how many. */
async function publish(url: string, token: string): Promise<number> {
  const body = JSON.stringify({ title: 'Much to say', message: longMessage });
  let sent = 0;
  while (sent * body.length < published * 2 ** 20) {
    const { perSecond } = await runLoad({
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
