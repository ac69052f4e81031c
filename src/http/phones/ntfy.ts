/** Reading as from ntfy: the streams of its apps, at /ntfy. A topic is a panel. https://docs.ntfy.sh/subscribe/api/ */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { NtfyAllowed, NtfyConfig } from '#contract/integrations/integration.ts';
import { forbidden } from '#core/errors.ts';
import { mayUsePanel, type Principal } from '#core/people/access.ts';
import { type NtfyReading, phoneStreams } from '#core/streams/ntfy/encoder.ts';
import { positionOf } from '#core/streams/ntfy/ids.ts';
import type { ButtonLinks } from '#core/streams/ntfy/lines.ts';
import type { Sink } from '#core/streams/panel-stream.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import { findByTopic, reservedTopics } from '#core/tenants/topics.ts';
import type { Authenticator } from '../callers/auth.ts';
import { originReader } from '../callers/forwarded.ts';
import { route, WebSocketAnswer } from '../openapi/route-schemas.ts';
import { requestIdOf } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { answerSseHead, begin, openSse } from '../sse-response.ts';
import { buttonRoute, mayAct } from './ntfy-buttons.ts';
import { cursorOf, type NtfyParameters, parseTopics, readParameters } from './ntfy-parameters.ts';
import { dropWhenStalled, forms, latestIn, pollIn, streamIn } from './ntfy-sinks.ts';
import { clientOf, connectPhone, leave, registerPhone, serveSocket } from './phones.ts';
import { requireUpgrade } from './upgrades.ts';

const policy = { scope: 'panel', role: 'viewer' } as const;
const TopicsPath = Type.Object({
  topic: Type.String({ description: 'Topics of panels, with commas between.' }),
});
const optional = (description: string) => Type.Optional(Type.String({ description }));
const querystring = Type.Object({
  since: optional(
    'The id of the last message that is known, a Unix time in seconds, a duration as in 10m, or `all`, `latest`, `none`. Not given: `none`, of a poll `all`.',
  ),
  poll: optional('`1`: the messages up to now, and no stream.'),
  id: optional('Only this message.'),
  title: optional('Only messages with this title.'),
  message: optional('Only messages with this text.'),
  priority: optional('Only these priorities: 1 to 5, with commas between.'),
  tags: optional('Only messages with all of these tags, with commas between.'),
});

const about = {
  params: TopicsPath,
  querystring,
  rateLimit: 'by panel',
  expensive: 'panel stream',
  senderCredential: true,
} as const;

/** The answer of a route that writes texts of this type. */
const textOf = (type: string): object => ({
  description: type,
  content: { [type.split(';')[0] ?? type]: { schema: Type.String() } },
});

export function ntfyRoutes(app: App, services: Services, authenticator: Authenticator): void {
  for (const [form, { type }] of Object.entries(forms) as [keyof typeof forms, { type: string }][])
    app.get(
      `/ntfy/:topic/${form}`,
      route(policy, {
        ...about,
        summary: `Subscribe to topics as of ntfy (${form})`,
        description: `A topic is a panel. One that does not exist is registered as a phone, unless the token is bound to a panel. The events are those of ntfy:
open, keepalive, message, message_clear. Also as a WebSocket, at /ntfy/{topic}/ws.`,
        response: { 200: textOf(type) },
      }),
      (request, reply) => answerStream({ services, authenticator }, request, reply, form),
    );
  configRoute(app, services);
  buttonRoute(app, services, authenticator);
  app.get(
    '/ntfy/:topic/ws',
    route(policy, {
      ...about,
      summary: 'Subscribe to topics as of ntfy (ws)',
      description: 'As `GET /ntfy/{topic}/json`, as a WebSocket with a message in each frame.',
      response: WebSocketAnswer,
    }),
    (request, reply) => answerSocket({ services, authenticator }, request, reply),
  );
  app.get(
    '/ntfy/:topic/auth',
    route(policy, {
      summary: 'Whether the caller may read topics, as of ntfy',
      params: TopicsPath,
      response: { 200: NtfyAllowed },
      senderCredential: true,
    }),
    async (request) => {
      await allowedTopics(services, request);
      return { success: true as const };
    },
  );
}

/** What clients ask a server about itself: it has nothing of what they could switch on. */
const noFeatures = {
  ...{
    app_root: '/',
    enable_login: false,
    require_login: true,
    enable_signup: false,
    enable_payments: false,
  },
  ...{ enable_calls: false, enable_emails: false, enable_reservations: false, enable_web_push: false },
  ...{ billing_contact: '', web_push_public_key: '', disallowed_topics: [...reservedTopics] },
};

function configRoute(app: App, { settings: { baseUrl } }: Services): void {
  app.get(
    '/ntfy/v1/config',
    route('public', {
      summary: 'What the server offers, as of ntfy',
      response: { 200: NtfyConfig },
      rateLimit: 'none',
    }),
    async () => ({ base_url: baseUrl === undefined ? '' : `${baseUrl}/ntfy`, ...noFeatures }),
  );
}

interface Parts {
  readonly services: Services;
  readonly authenticator: Authenticator;
}

type StreamRequest = FastifyRequest<{ Params: { topic: string } }>;

async function answerStream(
  { services, authenticator }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
  name: keyof typeof forms,
): Promise<FastifyReply> {
  const { type, of: form } = forms[name];
  const asked = readParameters(request, services.now());
  const topics = await allowedTopics(services, request);
  if (request.method === 'HEAD') return answerSseHead(reply, type);
  const wanted = await subscriptionOf(services, request, topics, asked);
  const response = openSse(request, reply, type);
  if (wanted.reading.isIphone) await noteIphone(services, request, wanted);
  if (asked.isPoll)
    return begin(response, poll(services, wanted, dropWhenStalled(pollIn(form, response))), reply);
  const opening = connect(services, request, wanted, streamIn(form, response));
  const stopChecking = authenticator.watch(request, () => response.destroy());
  response.onGone(() => {
    stopChecking();
    leave(opening);
  });
  return begin(response, opening, reply);
}

async function answerSocket(
  { services, authenticator }: Parts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  requireUpgrade(request);
  const asked = readParameters(request, services.now());
  const topics = await allowedTopics(services, request);
  const wanted = await subscriptionOf(services, request, topics, { ...asked, isSocket: true });
  return serveSocket(authenticator, request, reply, (sink) =>
    asked.isPoll ? poll(services, wanted, dropWhenStalled(sink)) : connect(services, request, wanted, sink),
  );
}

interface Subscription {
  readonly tenant: number;
  readonly panels: readonly PanelRecord[];
  readonly asked: NtfyParameters;
  readonly reading: NtfyReading;
}

/** The topics that a request names. @throws AppError `bad-request`, or `forbidden` if the caller may not read one of them. */
async function allowedTopics(services: Services, request: FastifyRequest): Promise<readonly string[]> {
  const { principal, params } = request as StreamRequest;
  const names = parseTopics(params.topic);
  for (const name of names) await findPanel(services, principal, name);
  return names;
}

/** The panels of topics; a stream registers those that are not there. */
async function subscriptionOf(
  services: Services,
  request: FastifyRequest,
  names: readonly string[],
  asked: NtfyParameters & { readonly isSocket?: boolean },
): Promise<Subscription> {
  const { principal } = request;
  const { isPoll, filter, isSocket = false } = asked;
  const isIphone = isOfIphone(request);
  const topics = new Map<string, string>();
  const panels: PanelRecord[] = [];
  for (const name of names) {
    const panel =
      (await findPanel(services, principal, name)) ??
      (isPoll && !isIphone
        ? undefined
        : await registerPhone(services, principal, { name, topic: name }, () =>
            findPanel(services, principal, name),
          ));
    if (!panel || topics.has(panel.id)) continue;
    topics.set(panel.id, name);
    panels.push(panel);
  }
  // In the same order whatever the client's, as an alarm of several topics comes on the first.
  panels.sort((a, b) => (a.id < b.id ? -1 : 1));
  const { actionLinks, settings } = services;
  const { tenant, id: credential } = principal;
  const base = settings.baseUrl ?? originReader(settings).of(request);
  const links: ButtonLinks = {
    start: (panel) => `${base}/ntfy/act/${actionLinks.reader({ tenant, panel, credential })}`,
    end: (of) => `.${actionLinks.action({ tenant, ...of })}`,
  };
  const reading: NtfyReading = {
    ...{ topics, filter, isPoll, isSocket, isIphone },
    ...(mayAct(principal) && { buttons: links }),
  };
  return { tenant, panels, asked, reading };
}

async function connect(services: Services, request: FastifyRequest, wanted: Subscription, sink: Sink) {
  const { panels, asked, reading } = wanted;
  const from = await startOf(services, wanted);
  const after = asked.since === 'latest' ? await latest(services, wanted) : '';
  const kind = phoneStreams({ ...reading, after });
  return connectPhone(services, request, { panels, sink, from, kind, client: clientOf(request) });
}

async function poll(services: Services, wanted: Subscription, sink: Sink): Promise<void> {
  const { tenancy, tenantStreams } = services;
  const { tenant, panels, asked, reading } = wanted;
  if (panels.length === 0) return sink.end();
  if (asked.since === 'latest') {
    const lines = await latest(services, wanted);
    return lines === '' ? sink.end() : sink.write(lines, () => sink.end());
  }
  const position = positionOf(tenantStreams.epoch, asked.filter.id ?? '');
  if (position !== undefined) {
    // A phone that was woken for a message asks for it by its id, and shows it whatever came after it.
    const kind = phoneStreams(reading);
    const line = await tenantStreams.readOne(await tenancy.get(tenant), panels, position, kind);
    return line ? sink.write(line, () => sink.end()) : sink.end();
  }
  const from = await startOf(services, wanted);
  await tenantStreams.read(await tenancy.get(tenant), panels, sink, { from, kind: phoneStreams(reading) });
}

/** The lines of the newest message of each topic. */
async function latest(services: Services, wanted: Subscription): Promise<string> {
  const { sink, done } = latestIn();
  await poll(
    services,
    { ...wanted, asked: { ...wanted.asked, since: 'all' }, reading: { ...wanted.reading, isPoll: true } },
    sink,
  );
  return done;
}

const startOf = ({ history, tenantStreams, now }: Services, { tenant, asked }: Subscription) =>
  cursorOf(asked.since === 'latest' ? 'none' : asked.since, {
    ...{ history, tenant, epoch: tenantStreams.epoch, now: now() },
  });

/** @throws AppError `forbidden` for a topic that the caller may not read, whether or not it exists. */
async function findPanel(
  { tenancy }: Services,
  principal: Principal,
  topic: string,
): Promise<PanelRecord | undefined> {
  const find = async () => findByTopic((await tenancy.get(principal.tenant)).panels, topic);
  const panel = (await find()) ?? (await tenancy.poll().then(find));
  const isBound = principal.kind === 'token' && principal.panelId !== null;
  if (panel ? !mayUsePanel(principal, panel.id) : isBound) throw forbidden();
  return panel;
}

/** The app for iPhones, which keeps no connection: it polls when somebody opens it, and when it is woken. */
const isOfIphone = ({ headers }: FastifyRequest) =>
  /^ntfy\/\S+ \([^)]*\biOS\b/.test(headers['user-agent'] ?? '');

/** Its polls are its contact. */
async function noteIphone(services: Services, request: FastifyRequest, wanted: Subscription): Promise<void> {
  const { history, usage, ntfyUpstream, now } = services;
  const { tenant, panels, reading } = wanted;
  const { head: cursor } = await history.bounds(tenant);
  for (const { id, topic } of panels) {
    usage.recordContact({
      tenant,
      id,
      cursor,
      at: now(),
      client: clientOf(request),
      address: request.sourceIp,
    });
    await ntfyUpstream?.readBy(tenant, id, reading.topics.get(id) ?? topic).catch((error: unknown) => {
      request.log.error({ err: error, requestId: requestIdOf(request.raw) }, 'an iPhone will not be woken');
    });
  }
}
