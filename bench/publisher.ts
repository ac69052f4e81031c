/** A publisher in a process of its own, with a few raw keep-alive connections and at most one request on each. */
import { connect, type Socket } from 'node:net';
import { type Published, type PublishOrder, stampDigits, stampPlace } from './publishing.ts';

const nowMicros = () => Number(process.hrtime.bigint() / 1000n);

process.on('message', (order: PublishOrder) => {
  publish(order).then(
    (published) => process.send?.(published),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));

async function publish({ port, request, count, connections, perSecond }: PublishOrder): Promise<Published> {
  const [before = '', after = ''] = request.split(stampPlace);
  const took: number[] = [];
  const free: Socket[] = [];
  let sent = 0;
  let answered = 0;
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
  const beganAt = nowMicros();

  await new Promise<void>((resolve, reject) => {
    const due = () => (perSecond === null ? count : ((nowMicros() - beganAt) / 1e6) * perSecond);
    const send = () => {
      const until = Math.min(count, due());
      for (let socket = free.pop(); socket; socket = free.pop()) {
        if (sent >= until) {
          free.push(socket);
          break;
        }
        sent += 1;
        const at = nowMicros();
        starts.set(socket, at);
        socket.write(before + String(at).padStart(stampDigits, '0') + after);
      }
      // A small irregularity does not matter, because a message contains its actual time of sending.
      if (perSecond !== null && sent < count) setTimeout(send, 1);
    };
    const starts = new Map<Socket, number>();
    for (const socket of sockets) {
      free.push(socket);
      socket.on('data', (chunk: Buffer) => {
        // Answers are small and come one at a time; those to nchan are 200, 201 or 202.
        if (chunk.toString('latin1', 0, 10) !== 'HTTP/1.1 2')
          return reject(new Error(chunk.toString('latin1')));
        took.push(nowMicros() - (starts.get(socket) ?? 0));
        free.push(socket);
        answered += 1;
        if (answered === count) resolve();
        else if (perSecond === null) send();
      });
      socket.once('error', reject);
    }
    send();
  });

  const endedAt = nowMicros();
  for (const socket of sockets) socket.destroy();
  const sorted = Float64Array.from(took).sort();
  const quantileMs = (q: number) => (sorted[Math.floor(q * sorted.length)] ?? Number.NaN) / 1000;
  return { beganAt, endedAt, p50: quantileMs(0.5), p99: quantileMs(0.99) };
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket.setNoDelay(true)));
    socket.once('error', reject);
  });
}
