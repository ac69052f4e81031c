import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { AppError } from '#core/errors.ts';

const signals = new WeakMap<Socket, AbortSignal>();

/**
 * Aborts when the caller closes the connection, or only its side of it: the two cannot be told apart before something is
 * written, and long work is not done for a caller that has gone. The reason is an AppError `timeout`.
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
