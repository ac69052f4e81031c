import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { Said, Struck, Volley } from './volley.ts';

interface Line {
  readonly socket: Socket;
  sentAt: number;
  name: string;
  text: string;
}

const statuses: Record<string, number> = {};
const accepted: number[] = [];
const refused: number[] = [];
const acknowledged: [string, string][] = [];
let unadvised = 0;
let unsent = 0;
let n = 0;

// It stands for machines of their own: where there is too little of this one, the server goes first.
setPriority(10);

const say = (said: Said) => process.send?.(said);
process.on('message', (volley: Volley) => void fire(volley).then((struck) => say({ struck })));
process.on('disconnect', () => process.exit(0));

async function fire(volley: Volley): Promise<Struck> {
  const { perSecond, connections, seconds } = volley;
  const free: Line[] = [];
  let open = 0;
  let stopped = false;
  const began = performance.now();
  const until = began + seconds * 1_000;
  const make = (): void => {
    open += 1;
    const socket = connect(volley.port, '127.0.0.1');
    const line: Line = { socket, sentAt: 0, name: '', text: '' };
    socket.setNoDelay(true);
    socket.once('connect', () => idle(line));
    socket.on('data', (chunk: Buffer) => {
      line.text += chunk.toString('latin1');
      if (take(line)) idle(line);
    });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      open -= 1;
      if (line.name !== '') count('0');
      const at = free.indexOf(line);
      if (at >= 0) free.splice(at, 1);
      if (!stopped && perSecond === undefined) make();
    });
  };
  const idle = (line: Line) => {
    if (perSecond === undefined && !stopped) send(line, volley);
    else free.push(line);
  };
  for (let i = 0; i < Math.min(connections, perSecond === undefined ? connections : 64); i++) make();

  const seconder = setInterval(() => say({ soFar: statuses }), 1_000);
  let due = 0;
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 4));
    if (perSecond === undefined) continue;
    const owed = Math.floor(((performance.now() - began) / 1_000) * perSecond);
    for (; due < owed; due++) {
      const line = free.pop();
      if (line) send(line, volley);
      else unsent += 1;
    }
    for (let more = Math.min(16, connections - open); more > 0 && free.length === 0; more--) make();
  }
  stopped = true;
  clearInterval(seconder);
  // What is under way may still be answered.
  const patience = performance.now() + 15_000;
  while (free.length < open && performance.now() < patience)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return {
    seconds,
    statuses,
    unsent,
    accepted: summary(accepted),
    refused: summary(refused),
    unadvised,
    acknowledged,
  };
}

function send(line: Line, { token, name, level }: Volley): void {
  line.name = `${name}-${++n}`;
  line.sentAt = performance.now();
  const body = JSON.stringify({ title: line.name, message: `sent as <${line.name}>`, ttl: 1_000, level });
  line.socket.write(
    `POST /api/notify HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/** Whether the answer is whole. */
function take(line: Line): boolean {
  const end = line.text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = Number(/^content-length: (\d+)/im.exec(line.text)?.[1] ?? 0);
  if (line.text.length < end + 4 + length) return false;
  const status = line.text.slice(9, 12);
  count(status);
  const took = performance.now() - line.sentAt;
  if (status === '200') {
    accepted.push(took);
    acknowledged.push([line.name, /"id":"([^"]+)"/.exec(line.text)?.[1] ?? '']);
  } else {
    refused.push(took);
    if (!/^retry-after: \d+/im.test(line.text)) unadvised += 1;
  }
  line.text = '';
  line.name = '';
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
