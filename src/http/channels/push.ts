import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import { ChannelTest } from '#contract/channels/channel.ts';
import { buttonsOf } from '#contract/panels/buttons.ts';
import {
  PushAct,
  PushActed,
  PushDeviceAdd,
  PushDeviceAdded,
  PushDeviceList,
  PushLink,
  PushLinkCreate,
  PushLinkCreated,
  PushOwnDevice,
  PushRenewal,
  PushSecret,
} from '#contract/panels/push.ts';
import { pressButton } from '#core/alarms/buttons.ts';
import {
  type ChannelRecord,
  type PushDeviceRecord,
  type PushDeviceRef,
  pushDeviceView,
  pushLinkMs,
} from '#core/channels/channels.ts';
import { AppError, badField, conflict, forbidden, notFound, requireFound } from '#core/errors.ts';
import { actorOf, assertActive, includesRole } from '#core/people/access.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { iso } from '#core/time/time.ts';
import { networkOf, originReader } from '../callers/forwarded.ts';
import { takeFrom } from '../callers/rate-limits.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** All requests of devices behind one address. */
const deviceRate: Rate = { perSecond: 2, burst: 60 };
/** Test messages requested by one device. */
const testRate: Rate = { perSecond: 1 / 10, burst: 5 };

/** Counts a request of a device. @throws AppError `rate-limited`. */
type Take = (source: string, reply: FastifyReply) => Promise<void>;

/** Devices of channels of the kind push. */
export function pushRoutes(app: App, services: Services): void {
  adminRoutes(app, services);
  const limiter = services.limits.approximate('push device');
  const take: Take = (source, reply) =>
    takeFrom({ name: 'push', rate: deviceRate, limiter }, networkOf(source), services.now(), reply);
  linkRoutes(app, services, take);
  deviceRoutes(app, services, take);
  actRoute(app, services, take);
}

function adminRoutes(app: App, services: Services): void {
  const { directory, channels, settings, now } = services;
  const origins = originReader(settings);

  app.get(
    '/api/channels/:id/devices',
    route('viewer', {
      summary: 'Devices of a push channel, by name',
      params: IdPath,
      response: { 200: PushDeviceList },
    }),
    async ({ principal: { tenant }, params: { id } }) => {
      requireFound(await directory.channels.find(tenant, id), 'channel');
      const [devices, members] = await Promise.all([
        directory.pushDevices.list(tenant, id),
        directory.members.list(tenant),
      ]);
      const people = new Map(members.map(({ person, name }) => [person, name]));
      return { devices: devices.map((each) => pushDeviceView(each, people)) };
    },
  );

  app.post(
    '/api/channels/:id/devices',
    route('admin', {
      summary: 'Make a link with which one device is added to a push channel',
      description: 'The link works once, for ten minutes: send it to the device, or show it as a QR code.',
      params: IdPath,
      body: Type.Union([PushLinkCreate, Type.Null()]),
      response: { 201: PushLinkCreated, ...problems(409) },
    }),
    async (request) => {
      const { principal, params, body } = request;
      const { tenant } = principal;
      const channel = requireFound(await directory.channels.find(tenant, params.id), 'channel');
      if (channel.kind !== 'push') throw conflict('only a channel of the kind push has devices');
      const person = body?.userId ?? null;
      if (person !== null && !(await directory.members.find(tenant, person)))
        throw badField('userId', 'is no member of this tenant; GET /api/members lists them');
      const ref = { tenant, channel: channel.id, id: uuidv7() };
      const expiresAt = now() + pushLinkMs;
      if (!(await directory.pushDevices.createLink(ref, { expiresAt, person }, actorOf(principal), now())))
        throw notFound(person === null ? 'channel' : 'channel or member');
      const base = settings.baseUrl ?? origins.of(request);
      const link = `${base}/push/#${channels.push.secretOf('link', ref)}`;
      return { id: ref.id, link, expiresAt: iso(expiresAt) };
    },
  );

  app.delete(
    '/api/channels/:id/devices/:device',
    route('admin', {
      summary: 'Remove a device, or a link that was not used yet',
      params: Type.Object({ id: Type.String(), device: Type.String() }),
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const ref = { tenant: principal.tenant, channel: params.id, id: params.device };
      requireFound(await directory.pushDevices.remove(ref, actorOf(principal), now()), 'device');
    },
  );
}

/** Links and devices authenticate with a secret in the body; no session is needed. */
function linkRoutes(app: App, services: Services, take: Take): void {
  const { directory, channels, now } = services;

  app.post(
    '/api/push/link',
    route('public', {
      tags: ['channels'],
      summary: 'The channel that a link adds a device to',
      body: PushSecret,
      response: { 200: PushLink, ...problems(410) },
    }),
    async ({ sourceIp, body }, reply) => {
      await take(sourceIp, reply);
      const ref = channels.push.readSecret('link', body.secret);
      const endsAt = ref && (await directory.pushDevices.linkEnds(ref));
      if (!ref || endsAt === undefined || endsAt <= now()) throw linkOver();
      return { ...(await placeOf(services, ref, linkOver)), expiresAt: iso(endsAt) };
    },
  );

  app.post(
    '/api/push/devices',
    route('public', {
      tags: ['channels'],
      summary: 'Add this device with a link, and use the link up',
      body: PushDeviceAdd,
      response: { 201: PushDeviceAdded, ...problems(410) },
    }),
    async ({ sourceIp, body }, reply) => {
      await take(sourceIp, reply);
      const ref = channels.push.readSecret('link', body.secret);
      if (!ref) throw linkOver();
      const place = await placeOf(services, ref, linkOver);
      const sealed = channels.push.seal(ref, body.subscription);
      const others = await directory.pushDevices.list(ref.tenant, ref.channel);
      const replaces = channels.push.sameAs(others, body.subscription);
      const device = { name: body.name.trim(), sealed, replaces };
      if (!(await directory.pushDevices.add(ref, device, now()))) throw linkOver();
      channels.wake(ref.tenant);
      const added = await directory.pushDevices.find(ref);
      if (!added) throw linkOver();
      return { ...place, ...(await ownView(services, added)), secret: channels.push.secretOf('device', ref) };
    },
  );
}

function deviceRoutes(app: App, services: Services, take: Take): void {
  const { directory, channels, limits, now } = services;
  const tests = { name: 'push test', rate: testRate, limiter: limits.exact('push test') };
  const known = (secret: string) => knownDevice(services, channels.push.readSecret('device', secret));

  app.post(
    '/api/push/device',
    route('public', {
      tags: ['channels'],
      summary: 'The calling device',
      body: PushSecret,
      response: { 200: PushOwnDevice, ...problems(404) },
    }),
    async ({ sourceIp, body }, reply) => {
      await take(sourceIp, reply);
      const device = await known(body.secret);
      const place = await placeOf(services, device, () => notFound('device'));
      return { ...place, ...(await ownView(services, device)) };
    },
  );

  app.post(
    '/api/push/device/subscription',
    route('public', {
      tags: ['channels'],
      summary: 'The calling device has another subscription now',
      body: PushRenewal,
      response: { 204: NoContent, ...problems(404) },
    }),
    async ({ sourceIp, body }, reply) => {
      await take(sourceIp, reply);
      const device = await known(body.secret);
      const sealed = channels.push.seal(device, body.subscription);
      // The page sends its subscription at each visit. Only a new one wakes a channel that waits.
      if (!channels.push.has(device, body.subscription)) {
        requireFound(await directory.pushDevices.renew(device, sealed, now()), 'device');
        channels.wake(device.tenant);
      }
    },
  );

  app.post(
    '/api/push/device/test',
    route('public', {
      tags: ['channels'],
      summary: 'Send a test to the calling device',
      body: PushSecret,
      response: { 200: ChannelTest, ...problems(404) },
    }),
    async ({ sourceIp, body }, reply) => {
      await take(sourceIp, reply);
      const device = await known(body.secret);
      const channel = await channelOf(services, device, () => notFound('device'));
      await takeFrom(tests, device.id, now());
      const result = await channels.test(channel, device.name, device.id);
      return result.ok ? result : { ...result, answer: notReached };
    },
  );

  app.post(
    '/api/push/device/remove',
    route('public', {
      tags: ['channels'],
      summary: 'Remove the calling device',
      body: PushSecret,
      response: { 204: NoContent, ...problems(404) },
    }),
    async ({ sourceIp, body }, reply) => {
      await take(sourceIp, reply);
      const device = await known(body.secret);
      requireFound(await directory.pushDevices.remove(device, `device ${device.name}`, now()), 'device');
    },
  );
}

/** What a device does with the buttons of a notification. Its secret is for the alarm of that notification alone. */
function actRoute(app: App, services: Services, take: Take): void {
  app.post(
    '/api/push/device/act',
    route('public', {
      tags: ['channels'],
      summary: 'The calling device acknowledges the alarm of a notification, or shelves it for an hour',
      body: PushAct,
      response: { 200: PushActed, ...problems(403, 404, 409) },
    }),
    async ({ sourceIp, body: { secret, action } }, reply) => {
      await take(sourceIp, reply);
      const ref = requireFound(services.channels.push.readActionSecret(secret), 'device');
      const device = await knownDevice(services, ref);
      const { settings } = await channelOf(services, device, () => notFound('device'));
      if (!buttonsOf(settings.actions).includes(action))
        throw forbidden(`the devices of this channel may not ${action}`);
      const { notification } = ref;
      const by = await actingName(services, device);
      return { by: await pressButton(services, device.tenant, { button: action, notification, by }) };
    },
  );
}

/** In whose name a device acts. @throws AppError `forbidden` for that of somebody who may not act either. */
async function actingName(
  { directory }: Services,
  { tenant, person, name }: PushDeviceRecord,
): Promise<string> {
  if (person === null) return `device ${name}`;
  const member = requireFound(await directory.members.find(tenant, person), 'device');
  if (!includesRole(member.role, 'member'))
    throw forbidden('the role of the person to whom this device belongs does not allow it');
  return member.name;
}

/** @throws AppError `not-found`, also for one whose tenant is gone. */
async function knownDevice(
  { directory }: Services,
  ref: PushDeviceRef | undefined,
): Promise<PushDeviceRecord> {
  const device = requireFound(ref && (await directory.pushDevices.find(ref)), 'device');
  assertActive(await directory.tenants.get(device.tenant));
  return device;
}

/** A device has no account, so it must not learn what the address that it provided answers. */
const notReached = 'the push service did not take the message: the page of the channel says why';

async function ownView({ directory }: Services, device: PushDeviceRecord) {
  const { tenant, person } = device;
  const member = person === null ? undefined : await directory.members.find(tenant, person);
  const view = pushDeviceView(device, new Map(member && [[member.person, member.name]]));
  return { ...view, lastError: view.lastError === null ? null : notReached };
}

const linkOver = () =>
  new AppError('gone', 'the link was used or has expired: make a new one on the page of the channel');

async function channelOf(
  { directory }: Services,
  { tenant, channel }: PushDeviceRef,
  gone: () => AppError,
): Promise<ChannelRecord> {
  const record = await directory.channels.find(tenant, channel);
  if (!record) throw gone();
  return record;
}

async function placeOf(services: Services, ref: PushDeviceRef, gone: () => AppError) {
  const { name: channel } = await channelOf(services, ref, gone);
  const tenant = await services.directory.tenants.get(ref.tenant);
  assertActive(tenant);
  return { tenant: tenant.title, channel, publicKey: services.channels.push.publicKey() };
}
