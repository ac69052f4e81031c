import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps an eye on connections on which nothing has been said yet, as browsers open them in advance. Node counts those as
 * busy, so that a stop would wait for them to its last second.
 *
 * @returns what ends them; a connection on which a request has begun is left alone.
 */
export function watchSilentConnections(server: Server): () => void {
  const connections = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('request', ({ socket }) => connections.delete(socket));
  return () => {
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
  };
}
