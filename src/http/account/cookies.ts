import type { FastifyReply } from 'fastify';

/** Answers with these cookies; what else is in the answer is for this browser alone. */
export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  if (cookies.length > 0) reply.header('set-cookie', [...cookies]);
  reply.header('cache-control', 'no-store');
}
