/** What the streams of all phones have in common, whatever app reads them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { uuidv7 } from 'uuidv7';
import type { Cursor } from '#contract/panels/sse.ts';
import { noticeScreen } from '#core/alarms/lost-panels.ts';
import { notFound } from '#core/errors.ts';
import { actorOf, allows, type Principal } from '#core/people/access.ts';
import { tooManyPanels } from '#core/people/pairing.ts';
import type { StreamKind } from '#core/streams/encoding.ts';
import type { Sink } from '#core/streams/panel-stream.ts';
import type { Connection } from '#core/streams/tenant-streams.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import type { Authenticator } from '../callers/auth.ts';
import { requestIdOf } from '../requests.ts';
import type { Services } from '../services.ts';
import { socketSink } from './ntfy-sinks.ts';
import { acceptSocket, pingRegularly } from './upgrades.ts';

/** Proxies end connections that are quiet for a minute. */
const pingMs = 45_000;

/**
 * Registers the panel of a phone, with a number after its name if that is taken. `find`: the panel if another request has registered it.
 * @throws AppError `not-found` for a caller that may not register panels, `conflict` when there are too many.
 */
export async function registerPhone(
  { directory, tenancy, now }: Services,
  principal: Principal,
  { name, topic }: { readonly name: string; readonly topic: string },
  find: () => Promise<PanelRecord | undefined>,
): Promise<PanelRecord> {
  if (!allows({ scope: 'panel', role: 'admin' }, principal)) throw notFound('topic');
  const { tenant } = principal;
  const { panels } = await tenancy.get(tenant);
  const names = new Set([...panels.values()].map((panel) => panel.name));
  for (;;) {
    let free = name;
    for (let n = 2; names.has(free); n++) free = `${name.slice(0, 90)} (${n})`;
    const wanted = { id: uuidv7(), name: free, tags: [], location: null, kind: 'phone', topic } as const;
    const registered = await directory.panels.register(tenant, wanted, actorOf(principal), now());
    if (!registered) {
      // Another request may have registered it at the same moment.
      const panel = await find();
      if (!panel) throw tooManyPanels();
      return panel;
    }
    const { panel, created } = registered;
    if (created) tenancy.addPanel(tenant, panel);
    if (panel.topic === topic) return panel;
    // A panel of another topic has got the name meanwhile.
    names.add(free);
  }
}

interface PhoneStream {
  readonly panels: readonly PanelRecord[];
  readonly sink: Sink;
  readonly from: Cursor | undefined;
  readonly kind: StreamKind;
  /** Name and version of the app. */
  readonly client: string | null;
}

export async function connectPhone(
  { tenancy, tenantStreams, schedule }: Services,
  request: FastifyRequest,
  { panels, sink, from, kind, client }: PhoneStream,
): Promise<Connection> {
  const { tenant } = request.principal;
  const screen = { client, address: request.sourceIp };
  const connection = await tenantStreams.connect(await tenancy.get(tenant), panels, sink, {
    ...{ from, screen, kind },
  });
  for (const { id, display } of panels)
    if (display.alertWhenLostMs !== undefined)
      noticeScreen(schedule, tenant, id).catch((error: unknown) =>
        request.log.error({ err: error, requestId: requestIdOf(request.raw) }, 'a stream failed'),
      );
  return connection;
}

type Opening = Promise<Connection> | Promise<void>;

/** Answers with a WebSocket for the stream that `open` writes. */
export async function serveSocket(
  authenticator: Authenticator,
  request: FastifyRequest,
  reply: FastifyReply,
  open: (sink: Sink) => Opening,
): Promise<FastifyReply> {
  const socket = await acceptSocket(request, reply);
  const opening = open(socketSink(socket));
  const stopChecking = authenticator.watch(request, () => socket.terminate());
  pingRegularly(socket, pingMs);
  socket.once('close', () => {
    stopChecking();
    leave(opening);
  });
  opening.catch(() => socket.terminate());
  return reply;
}

export function leave(opening: Opening): void {
  opening.then(
    (connection) => connection?.disconnected(),
    () => undefined,
  );
}

/** Name and version of the app, as in ntfy/1.25.0. */
export function clientOf({ headers }: FastifyRequest): string | null {
  const [name] = /^[A-Za-z][A-Za-z0-9-]{0,31}\/[0-9A-Za-z.+-]{1,32}/.exec(headers['user-agent'] ?? '') ?? [];
  return name?.toLowerCase() ?? null;
}
