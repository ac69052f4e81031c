import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const many = 200;

const open = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket.resume();
};

/** Opens 200 connections that stay silent. */
export const openSilent = (port: number): Promise<Socket[]> =>
  Promise.all(Array.from({ length: many }, () => open(port)));

/** Opens 200 connections and ends them, one after the other. Resolves once the server has closed each. */
export async function openAndEnd(port: number): Promise<void> {
  for (let i = 0; i < many; i++) {
    const socket = await open(port);
    if (socket.closed) continue;
    const closed = once(socket, 'close');
    socket.end();
    await closed;
  }
}
