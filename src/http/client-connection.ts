/** What the server does when the client of a request has gone, or reads nothing. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#core/errors.ts';

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Aborts when the caller closes the connection or half-closes it, because the server cannot distinguish the two until it
 * writes. Long work stops then. The abort reason is an AppError `timeout`.
 */
export function connectionSignal({ raw: { socket } }: FastifyRequest): AbortSignal {
  const known = signals.get(socket);
  if (known) return known;
  const controller = new AbortController();
  const close = () =>
    controller.abort(new AppError('timeout', 'the connection was closed before the work was done'));
  if (socket.readableEnded || socket.destroyed) close();
  socket.once('end', close);
  socket.once('close', close);
  signals.set(socket, controller.signal);
  return controller.signal;
}

/**
 * Disconnects a client that has read nothing for `stalledMs` milliseconds although text waits for it, because it would hold one of the
 * tenant's exports or lists. If no text waits, the server is still working on it.
 */
export function endWhenStalled(response: ServerResponse, stalledMs = 60_000): void {
  response.setTimeout(stalledMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
