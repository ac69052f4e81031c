/** The messages of a phone of Gotify: its list, and taking them off it. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { GotifyApplication, GotifyMessages } from '#contract/panels/gotify.ts';
import { compareLevels } from '#contract/routing/level-styles.ts';
import { hasComeBack } from '#core/alarms/buttons.ts';
import { notificationsSince } from '#core/alarms/notifications.ts';
import { actOnAlarms } from '#core/alarms/standing.ts';
import { badRequest, notFound } from '#core/errors.ts';
import type { Notification, Return } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { reaches } from '#core/log/target.ts';
import { isTakenCareOf } from '#core/streams/encoding.ts';
import { applicationId, priorityOf } from '#core/streams/gotify/encoding.ts';
import { positionOfGotifyId } from '#core/streams/gotify/ids.ts';
import { type MessagesPage, type MessagesWanted, readMessages } from '#core/streams/gotify/list.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import { iso } from '#core/time/time.ts';
import { problems, route, wholeNumber } from '../openapi/route-schemas.ts';
import { connectionSignal } from '../requests.ts';
import type { App, Services } from '../services.ts';
import { findPanel, NumberPath, ofPhones, wholeText } from './gotify-panel.ts';

export function messageRoutes(app: App, services: Services): void {
  const { tenancy, history } = services;
  const paging = Type.Object({
    limit: wholeNumber(200, usualLimit, `1 to 200; ${usualLimit} when not given.`),
    since: Type.Optional(wholeText('Messages with smaller ids; 0: the newest.')),
  });
  const expensive = 'phone messages' as const;
  const response = { 200: GotifyMessages, ...problems(400) };
  const about = { ...ofPhones, expensive, querystring: paging, response };
  app.get(
    '/gotify/application',
    route('panel', {
      ...ofPhones,
      summary: 'The applications, as of Gotify: one for each level',
      response: { 200: Type.Array(GotifyApplication) },
    }),
    async ({ principal }) => {
      const { levels, record } = await tenancy.get(principal.tenant);
      return [...levels.values()].sort(compareLevels).map(({ name, color, rank }, i) => ({
        ...{ id: applicationId(name), name, description: '', internal: false },
        image: `image/${color.slice(1)}.png`,
        ...{
          defaultPriority: priorityOf(rank),
          lastUsed: null,
          createdAt: iso(record.createdAt),
          sortKey: `a${String(i).padStart(4, '0')}`,
        },
      }));
    },
  );
  app.get(
    '/gotify/message',
    route('panel', {
      ...about,
      summary: 'The messages for the calling phone, as of Gotify',
      description:
        'Newest first. Without alarms that have ended, were replaced, are acknowledged or off the panels.',
    }),
    (request) => answerMessages(services, request, '/gotify/message'),
  );
  app.get(
    '/gotify/application/:id/message',
    route('panel', {
      ...about,
      summary: 'The messages of one level, as of Gotify',
      params: NumberPath,
    }),
    (request) => {
      const application = applicationOf(request.params);
      return answerMessages(services, request, `/gotify/application/${application}/message`, application);
    },
  );
  app.delete(
    '/gotify/message/:id',
    route('panel', {
      ...ofPhones,
      summary: 'Take a message off the list of the calling phone, as of Gotify',
      description:
        'It counts as a receipt `cleared` of its panel. For others nothing changes, unless the setting `deleteClears` of the panel is true: then an alarm that stands is cleared in the name of the phone.',
      params: NumberPath,
      response: { 200: Type.Null({ description: 'Done.' }) },
    }),
    async (request, reply) => {
      const { tenant } = request.principal;
      const given = wholeIn('id', request.params.id, 0, Number.MAX_SAFE_INTEGER);
      const position = positionOfGotifyId(services.tenantStreams.epoch, given);
      const panel = await findPanel(services, request);
      const [entry] = position > 0 ? (await history.readAfter(tenant, position - 1, 1)).entries : [];
      const isMessage = entry?.kind === 'notification' || entry?.kind === 'return';
      if (!panel || !isMessage || !reaches(entry.route.target, panel)) throw notFound('message');
      await takeOff(services, tenant, panel, entry);
      return reply.send(null);
    },
  );
}

/** Removing all messages of a phone, or those of a level, never clears for others: one touch would end every alarm. */
export function removeAllRoutes(app: App, services: Services): void {
  const about = {
    ...ofPhones,
    expensive: 'phone messages',
    description: `Up to ${pagesAtOnce * pageSize} of them, the newest. For others nothing changes.`,
    response: { 200: Type.Null({ description: 'Done.' }) },
  } as const;
  app.delete(
    '/gotify/message',
    route('panel', {
      ...about,
      summary: 'Take all messages off the list of the calling phone, as of Gotify',
    }),
    async (request, reply) => {
      await takeAllOff(services, request);
      return reply.send(null);
    },
  );
  app.delete(
    '/gotify/application/:id/message',
    route('panel', {
      ...about,
      summary: 'Take the messages of one level off the list of the calling phone, as of Gotify',
      params: NumberPath,
    }),
    async (request, reply) => {
      await takeAllOff(services, request, applicationOf(request.params));
      return reply.send(null);
    },
  );
}

const pageSize = 200;
const pagesAtOnce = 5;

async function takeAllOff(services: Services, request: FastifyRequest, application?: number): Promise<void> {
  const { receipts, metrics, now } = services;
  const { tenant } = request.principal;
  const panel = await findPanel(services, request);
  const signal = connectionSignal(request);
  // A message that comes after this stays.
  const began = now();
  let since = 0;
  for (let pages = 0; panel && pages < pagesAtOnce; pages++) {
    signal.throwIfAborted();
    const page = await messagesOf(services, tenant, {
      ...{ panel, limit: pageSize, since },
      ...(application !== undefined && { application }),
    });
    // Of several messages about an alarm, the newest counts.
    const sentAt = new Map(
      page.messages.toReversed().map(({ extras, date }) => [extras.belfry.id, Date.parse(date)]),
    );
    const cleared = [...sentAt].map(([id, at]) => ({
      id,
      state: 'cleared' as const,
      at: Math.max(began, at),
    }));
    const { length } = await receipts.record(tenant, panel, cleared, 'last counts');
    metrics.of(tenant).delivered('cleared', length);
    since = page.since;
    if (since === 0) return;
  }
}

/**
 * Takes the message that an entry is off the list of a phone, and clears its alarm for everybody if the panel may. If the alarm has come
 * back since, only this message goes: nobody has seen the newer one yet.
 */
async function takeOff(
  services: Services,
  tenant: TenantId,
  panel: PanelRecord,
  message: Notification | Return,
): Promise<void> {
  const { history, receipts, metrics, now } = services;
  const { id } = message;
  const sentAt = message.kind === 'return' ? message.at : message.receivedAt;
  const row = (await receipts.of(tenant, [id])).get(id)?.find(({ panelId }) => panelId === panel.id);
  // It is off already: a later message about this alarm, which has come since, stays.
  if (row?.clearedAt != null && row.clearedAt >= sentAt) return;
  const record = await history.find(tenant, id);
  const notifications = record ? await notificationsSince(services, tenant, record) : [];
  const isNewest = !(await hasComeBack(services, tenant, notifications, message.position));
  // Another node, whose clock is ahead, may have stored the message.
  const at = isNewest ? Math.max(now(), sentAt) : sentAt;
  if (record && isNewest && panel.display.deleteClears && !isTakenCareOf(record)) {
    const action = { kind: 'clear', at, by: `${panel.kind} ${panel.name}`, note: null } as const;
    await actOnAlarms(services, tenant, [id], action, panel);
  }
  const { length } = await receipts.record(tenant, panel, [{ id, state: 'cleared', at }], 'last counts');
  metrics.of(tenant).delivered('cleared', length);
}

const usualLimit = 100;

async function answerMessages(
  services: Services,
  request: FastifyRequest,
  path: string,
  application?: number,
) {
  const { limit: size, since: from } = request.query as { limit?: string; since?: string };
  const limit = wholeIn('limit', size ?? String(usualLimit), 1, 200);
  const since = wholeIn('since', from ?? '0', 0, Number.MAX_SAFE_INTEGER);
  const { tenant } = request.principal;
  const panel = await findPanel(services, request);
  const wanted = { limit, since, ...(application !== undefined && { application }) };
  const page = panel ? await messagesOf(services, tenant, { ...wanted, panel }) : { messages: [], since: 0 };
  const next = page.since > 0 && { next: `${path}?limit=${limit}&since=${page.since}` };
  return {
    paging: { size: page.messages.length, limit, since: page.since, ...next },
    messages: [...page.messages],
  };
}

async function messagesOf(
  { history, receipts, tenancy, tenantStreams, settings, now }: Services,
  tenant: TenantId,
  wanted: MessagesWanted,
): Promise<MessagesPage> {
  await tenancy.get(tenant);
  const context = {
    ...{ tenant, epoch: tenantStreams.epoch, history, receipts, baseUrl: settings.baseUrl, now },
    snapshot: () => tenancy.peek(tenant),
    router: () => tenancy.peek(tenant)?.router,
  };
  return readMessages(context, wanted);
}

const applicationOf = ({ id }: { readonly id: string }) => wholeIn('id', id, 0, Number.MAX_SAFE_INTEGER);

/** @throws AppError `bad-request` naming the field. */
function wholeIn(name: string, text: string, least: number, most: number): number {
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw badRequest(`${name} must be a whole number from ${least} to ${most}`);
}
