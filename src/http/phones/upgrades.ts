/** WebSockets: requests that become one pass through the routes as all others do, so the same checks hold for them. */
import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { badRequest } from '#core/errors.ts';

/** Clients send nothing but pongs. */
const maxPayload = 1_024;

const heads = new WeakMap<IncomingMessage, Buffer>();

/** Requests that may become a WebSocket; `Upgrade` of others is ignored. */
export const upgrades = ({ url = '', headers }: IncomingMessage): boolean =>
  /^\/+(?:ntfy\/.+\/ws|gotify\/+stream)\/*(?:[?#]|$)/.test(url) &&
  headers.upgrade?.toLowerCase() === 'websocket';

/** Since Node 24.9 a server chooses which requests it upgrades. Before, it would take all that ask for it, and not read their bodies. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const canChoose = major > 24 || minor >= 9;

/** Hands such requests to the routes. */
export function takeUpgrades(server: Server): void {
  if (!canChoose) return;
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy());
    heads.set(request, head);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.destroySoon());
    server.emit('request', request, response);
  });
}

/** @throws AppError `bad-request` for a request that is no WebSocket. */
export function requireUpgrade({ raw }: FastifyRequest): void {
  if (!heads.has(raw))
    throw badRequest('this path takes WebSockets: the headers Connection and Upgrade are missing');
}

/** Answers with a WebSocket. A handshake that is not valid is refused, and this never resolves. */
export async function acceptSocket({ raw }: FastifyRequest, reply: FastifyReply): Promise<WebSocket> {
  const { WebSocketServer } = await import('ws');
  reply.hijack();
  reply.raw.detachSocket(raw.socket);
  raw.socket.setTimeout(0);
  const server = new WebSocketServer({ noServer: true, clientTracking: false, maxPayload });
  return new Promise((resolve) => {
    server.handleUpgrade(raw, raw.socket, heads.get(raw) ?? Buffer.alloc(0), (socket) => {
      socket.on('error', () => socket.terminate());
      resolve(socket);
    });
  });
}

/** Ends a WebSocket whose client has not answered the ping before. */
export function pingRegularly(socket: WebSocket, everyMs: number): void {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  const timer = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, everyMs).unref();
  socket.once('close', () => clearInterval(timer));
}
