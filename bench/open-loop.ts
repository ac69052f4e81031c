/**
 * A sender with a fixed rate (open loop), in a process of its own. The latency of a request counts from its scheduled time, even
 * if all connections were busy then. So a stall shows in every request that it delayed (no coordinated omission). Talks to its
 * parent by messages.
 */
import { connect, type Socket } from 'node:net';

export interface PaceOrder {
  readonly port: number;
  /** A whole HTTP request. */
  readonly request: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly connections: number;
}

export interface Paced {
  readonly sent: number;
  readonly refused: number;
  /** Milliseconds from the time a request was due to its answer. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly most: number;
}

process.on('message', (order: PaceOrder) => {
  keepPace(order).then(
    (paced) => process.send?.(paced),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));

async function keepPace({ port, request, perSecond, seconds, connections }: PaceOrder): Promise<Paced> {
  const bytes = Buffer.from(request);
  const total = Math.floor(perSecond * seconds);
  const took = new Float64Array(total);
  const dueOf = new Map<Socket, number>();
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const free = [...sockets];
  let [sent, answered, refused] = [0, 0, 0];
  const began = performance.now();

  await new Promise<void>((resolve, reject) => {
    const send = () => {
      const due = ((performance.now() - began) / 1000) * perSecond;
      while (sent < Math.min(total, due)) {
        // In turn, so that each is used: the server closes a new connection that sends no request for ten seconds.
        const socket = free.shift();
        if (!socket) break;
        dueOf.set(socket, began + (sent / perSecond) * 1000);
        sent += 1;
        socket.write(bytes);
      }
    };
    for (const socket of sockets) {
      socket.on('data', (chunk: Buffer) => {
        if (chunk.toString('latin1', 0, 10) !== 'HTTP/1.1 2') refused += 1;
        took[answered] = performance.now() - (dueOf.get(socket) ?? 0);
        answered += 1;
        free.push(socket);
        if (answered === total) resolve();
        else send();
      });
      socket.once('error', reject);
      socket.once('close', () => reject(new Error('the server ended a connection')));
    }
    const timer = setInterval(() => (sent < total ? send() : clearInterval(timer)), 1);
  });

  for (const socket of sockets) socket.removeAllListeners('close').destroy();
  took.sort();
  const at = (q: number) => took[Math.min(total - 1, Math.floor(q * total))] ?? Number.NaN;
  return { sent, refused, p50: at(0.5), p99: at(0.99), p999: at(0.999), most: at(1) };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });
}
