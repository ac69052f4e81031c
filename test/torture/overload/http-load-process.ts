import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { full } from '../counts.ts';
import type { LoadMessage, LoadOptions, LoadResult } from './http-load.ts';

interface Connection {
  readonly socket: Socket;
  sentAt: number;
  name: string;
  text: string;
}

const statuses: Record<string, number> = {};
const accepted: number[] = [];
const refused: number[] = [];
const acknowledged: [string, string][] = [];
let withoutRetryAfter = 0;
let unsent = 0;
let n = 0;

// This load stands for other machines, so the server has a higher priority on this one. Beside other tests it would get no time at all.
if (full) setPriority(10);

const sendMessage = (message: LoadMessage) => process.send?.(message);
process.on(
  'message',
  (options: LoadOptions) => void runLoad(options).then((result) => sendMessage({ result })),
);
process.on('disconnect', () => process.exit(0));

async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { perSecond, connections, seconds } = options;
  const free: Connection[] = [];
  let open = 0;
  let stopped = false;
  const openConnection = (): void => {
    open += 1;
    const socket = connect(options.port, '127.0.0.1');
    const connection: Connection = { socket, sentAt: 0, name: '', text: '' };
    socket.setNoDelay(true);
    socket.once('connect', () => idle(connection));
    socket.on('data', (chunk: Buffer) => {
      connection.text += chunk.toString('latin1');
      if (take(connection)) idle(connection);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      open -= 1;
      if (connection.name !== '') count('0');
      const at = free.indexOf(connection);
      if (at >= 0) free.splice(at, 1);
      if (!stopped && perSecond === undefined) openConnection();
    });
  };
  const idle = (connection: Connection) => {
    if (perSecond === undefined && !stopped) send(connection, options);
    else free.push(connection);
  };
  const untilAllFree = async () => {
    const deadline = performance.now() + 15_000;
    while (free.length < open && performance.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 20));
  };
  for (let i = 0; i < Math.min(connections, perSecond === undefined ? connections : 64); i++)
    openConnection();
  // A rate counts from the moment when there are connections.
  if (perSecond !== undefined) await untilAllFree();

  const began = performance.now();
  const until = began + seconds * 1_000;
  const progress = setInterval(() => sendMessage({ soFar: statuses }), 1_000);
  let sent = 0;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 4));
    if (perSecond === undefined) continue;
    const due = Math.floor(((performance.now() - began) / 1_000) * perSecond);
    for (; sent < due; sent++) {
      const connection = free.pop();
      if (connection) send(connection, options);
      else unsent += 1;
    }
    for (let more = Math.min(16, connections - open); more > 0 && free.length === 0; more--) openConnection();
  }
  stopped = true;
  clearInterval(progress);
  // Requests in flight may still be answered.
  await untilAllFree();
  return {
    seconds,
    statuses,
    unsent,
    accepted: summary(accepted),
    refused: summary(refused),
    withoutRetryAfter,
    acknowledged,
  };
}

function send(connection: Connection, { token, name, level }: LoadOptions): void {
  connection.name = `${name}-${++n}`;
  connection.sentAt = performance.now();
  const body = JSON.stringify({
    title: connection.name,
    message: `sent as <${connection.name}>`,
    ttl: 1_000,
    level,
  });
  connection.socket.write(
    `POST /api/notify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Takes an answer; false while it is incomplete. */
function take(connection: Connection): boolean {
  const end = connection.text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = Number(/^content-length: (\d+)/im.exec(connection.text)?.[1] ?? 0);
  if (connection.text.length < end + 4 + length) return false;
  const status = connection.text.slice(9, 12);
  count(status);
  const took = performance.now() - connection.sentAt;
  if (status === '200') {
    accepted.push(took);
    acknowledged.push([connection.name, /"id":"([^"]+)"/.exec(connection.text)?.[1] ?? '']);
  } else {
    refused.push(took);
    if (!/^retry-after: \d+/im.test(connection.text)) withoutRetryAfter += 1;
  }
  connection.text = '';
  connection.name = '';
  return true;
}

function count(status: string): void {
  statuses[status] = (statuses[status] ?? 0) + 1;
}

function summary(times: number[]): { p50: number; p99: number; max: number } {
  times.sort((a, b) => a - b);
  const at = (q: number) => Math.round((times[Math.floor(q * times.length)] ?? 0) * 10) / 10;
  return { p50: at(0.5), p99: at(0.99), max: at(0.999999) };
}
