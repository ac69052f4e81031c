import { createServer } from 'node:net';

/**
 * Ports below those that systems give to whoever asks for any, so that none is taken by others while what listens there starts,
 * or is started again. Each worker has a range of its own.
 */
const ports = 500;
const first = 20_000 + ports * (Number(process.env.VITEST_POOL_ID ?? 0) % 20);
let next = Math.floor(Math.random() * ports);

/** A port of 127.0.0.1 on which nothing listens, another one with each call. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < ports; tried++) {
    next = (next + 1) % ports;
    if (await isFree(first + next)) return first + next;
  }
  throw new Error(`there is no free port from ${first} on`);
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
