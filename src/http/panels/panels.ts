import { uuidv7 } from 'uuidv7';
import { noTexts } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import {
  type IdentifyEvent,
  incompleteSettings,
  Panel,
  type PanelCommand,
  PanelCommanded,
  PanelList,
  PanelPatch,
  PanelRegister,
  PanelShowing,
  panelCommands,
  type ReloadEvent,
  type TestEvent,
} from '#contract/panels/panel.ts';
import { builtInStyles, minRankOf } from '#contract/routing/level-styles.ts';
import { watchPanel } from '#core/alarms/lost-panels.ts';
import { badRequest, conflict, forbidden, notFound, requireFound } from '#core/errors.ts';
import { actorOf, mayUsePanel, type Principal, shownNameOf } from '#core/people/access.ts';
import { tooManyPanels } from '#core/people/pairing.ts';
import { isQuietFor, phonePanelOf } from '#core/streams/encoding.ts';
import { notificationEvent } from '#core/streams/frames.ts';
import type { PanelRecord } from '#core/tenants/directory.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { checkTimeZone, iso, isoOrNull } from '#core/time/time.ts';
import { takeFrom } from '../callers/rate-limits.ts';
import { IdPath, NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const maxShown = 50;

/** The event that each command sends to the panel. */
const events = {
  identify: { durationMs: 5_000 } satisfies IdentifyEvent,
  reload: {} satisfies ReloadEvent,
  test: { durationMs: 20_000 } satisfies TestEvent,
} as const;

const summaries: Readonly<Record<PanelCommand, string>> = {
  identify: 'Have a panel show its name, large, for five seconds',
  reload: 'Have a panel load its page anew',
  test: 'Have a panel draw a test card for twenty seconds, or a phone ring with a test alarm',
};

/** Panels: screens that registered, their state, what they show, and commands to them. */
export function panelRoutes(app: App, services: Services): void {
  readRoutes(app, services);
  writeRoutes(app, services);
  commandRoutes(app, services);
}

function readRoutes(app: App, services: Services): void {
  const { history, tenancy, now } = services;
  const policy = { scope: 'panel', role: 'viewer' } as const;

  app.get(
    '/api/panels',
    route(policy, {
      summary: 'Panels, by name',
      description: 'A token that is bound to one panel gets only that panel.',
      response: { 200: PanelList },
      expensive: 'list',
    }),
    async ({ principal }) => ({ panels: await panelViews(services, principal) }),
  );

  app.get(
    '/api/panels/:id',
    route(policy, {
      summary: 'One panel, with its connection state and lag',
      params: IdPath,
      response: { 200: Panel },
    }),
    async ({ principal, params }) => panelView(services, principal, params.id),
  );

  app.get(
    '/api/panels/:id/showing',
    route('viewer', {
      summary: 'What a panel shows now, by rank, then newest first',
      description: `At most ${maxShown}; \`more\` counts those behind them, of the ${limits.liveSet} that a panel is given.`,
      params: IdPath,
      response: { 200: PanelShowing },
    }),
    async ({ principal: { tenant }, params }) => {
      const panel = requireFound(await tenancy.findPanel(tenant, params.id), 'panel');
      const { levels, router } = await tenancy.get(tenant);
      const at = now();
      const { positions: live } = await history.live(tenant, panel, at, limits.liveSet);
      const minRank = minRankOf(panel.display, levels);
      const positions = live.filter(({ rank }) => rank >= minRank).map(({ position }) => position);
      const first = positions.slice(0, maxShown);
      const { notifications } = await history.readLive(tenant, first, at, Number.POSITIVE_INFINITY);
      return {
        notifications: notifications.map((each) => notificationEvent(each, at, router)),
        more: positions.length - first.length,
      };
    },
  );
}

function writeRoutes(app: App, services: Services): void {
  const { directory, tenancy, now, schedule } = services;

  app.post(
    '/api/panels',
    route(
      { scope: 'panel', role: 'admin' },
      {
        summary: 'Register a panel',
        description:
          'A name that exists returns its panel, so a screen can register at every start. If the panel is not of the given kind, it is a conflict.',
        body: PanelRegister,
        response: { 200: Panel, 201: Panel, ...problems(409) },
      },
    ),
    async ({ principal, body }, reply) => {
      const { tenant } = principal;
      await refuseOtherName(services, principal, body.name);
      const wanted = {
        id: uuidv7(),
        name: body.name,
        tags: body.tags ?? [],
        location: body.location ?? null,
        kind: body.kind ?? 'screen',
      };
      const registered = await directory.panels.register(tenant, wanted, actorOf(principal), now());
      if (!registered) throw tooManyPanels();
      const { kind } = registered.panel;
      if (kind !== (body.kind ?? kind))
        throw conflict(`a panel of the kind ${kind} is named "${body.name}": choose another name`);
      if (registered.created) tenancy.addPanel(tenant, registered.panel);
      reply.code(registered.created ? 201 : 200);
      return panelView(services, principal, registered.panel.id);
    },
  );

  app.patch(
    '/api/panels/:id',
    route('admin', {
      summary: 'Change the name, kind, tags, location or display settings',
      description: 'Fields that are not named keep their value; display settings are replaced as a whole.',
      params: IdPath,
      body: PanelPatch,
      response: { 200: Panel, ...problems(409) },
    }),
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      await checkDisplay(services, tenant, body.display);
      if (body.display && (await directory.panels.find(tenant, params.id)))
        await watchPanel(schedule, { tenant, id: params.id }, body.display.alertWhenLostMs);
      if (!(await directory.panels.update(tenant, params.id, body, actorOf(principal), now())))
        throw notFound('panel');
      await tenancy.refresh(tenant);
      return panelView(services, principal, params.id);
    },
  );

  app.delete(
    '/api/panels/:id',
    route('admin', {
      summary: 'Delete a panel: its stream is closed, and a token bound to it is revoked',
      params: IdPath,
      response: { 204: NoContent },
    }),
    async ({ principal, params }) => {
      const { tenant } = principal;
      requireFound(await directory.panels.remove(tenant, params.id, actorOf(principal), now()), 'panel');
      // Clears the notification that reports it as lost.
      await watchPanel(schedule, { tenant, id: params.id }, undefined);
      await tenancy.refresh(tenant);
    },
  );
}

/** Commands to a connected screen. They are sent at once or never; nothing is stored for later. */
function commandRoutes(app: App, services: Services): void {
  const { directory, tenancy, presence, limits: limiters, now } = services;
  const rate: Rate = { perSecond: 0.1, burst: 6 };
  const testRate = { name: 'phone-test', rate, limiter: limiters.approximate('phone test') };
  for (const command of panelCommands) {
    app.post(
      `/api/panels/:id/${command}`,
      route('member', {
        summary: summaries[command],
        description: `Sends the event \`${command}\` to its stream. A screen that is not connected misses it.${
          command === 'test' ? testAbout : ''
        }`,
        params: IdPath,
        response: { 200: PanelCommanded },
      }),
      async ({ principal, params: { id } }, reply) => {
        const { tenant } = principal;
        const panel = await tenancy.findPanel(tenant, id);
        const isAlarm = command === 'test' && panel?.kind === 'phone';
        if (isAlarm) await takeFrom(testRate, `${tenant} ${id}`, now(), reply);
        if (!(await directory.panels.noteCommand(tenant, id, command, actorOf(principal), now())))
          throw notFound('panel');
        if (isAlarm) return { ok: true as const, ...(await ringPhone(services, principal, panel)) };
        const reached = await presence.sendCommand({
          tenant,
          panelId: id,
          event: command,
          data: events[command],
        });
        return { ok: true as const, reached };
      },
    );
  }
}

const testMs = 600_000;
const testAbout =
  ' A panel of the kind `phone` gets a critical notification instead, which goes to no other panel and no channel, and stays for ten minutes. It is stored: a phone that is not connected (`reached` is false) gets it when it connects in this time. `rings` says whether it makes a sound. A phone takes six in a minute.';

/** Sends a test alarm to this phone alone. Without a key, so that each of them rings. */
async function ringPhone(
  { intake, tenancy, presence, now }: Services,
  principal: Principal,
  panel: PanelRecord,
): Promise<{ readonly reached: boolean; readonly rings: boolean }> {
  const { tenant } = principal;
  const { id, name } = panel;
  const level = 'critical';
  const [snapshot, { panels }] = await Promise.all([tenancy.get(tenant), presence.online(tenant, id)]);
  const phone = phonePanelOf({ snapshot: () => snapshot }, panel);
  const { rank } = builtInStyles[level];
  const fields = {
    ...noTexts,
    ...{ title: `Test alarm for ${name}`, level, ttl: testMs },
    message: `${shownNameOf(principal)} sent this test. It went to this phone only.`,
  };
  await intake.raise(tenant, { by: 'test', fields, only: { all: false, ids: [id], tags: [] } });
  return { reached: panels.has(id), rings: rank >= phone.minRank && !isQuietFor({ rank }, phone, now()) };
}

/** @throws AppError `not-found`, also for a panel that the caller may not use. */
export async function panelView(services: Services, principal: Principal, id: string): Promise<Panel> {
  const { directory, presence } = services;
  const [panel, online] = await Promise.all([
    mayUsePanel(principal, id) ? directory.panels.find(principal.tenant, id) : undefined,
    presence.online(principal.tenant, id),
  ]);
  if (!panel) throw notFound('panel');
  return view(services, panel, online);
}

/** From the directory, because the snapshot in memory has old values of `lastSeenAt`. */
async function panelViews(services: Services, principal: Principal): Promise<Panel[]> {
  const { directory, presence } = services;
  const [panels, online] = await Promise.all([
    directory.panels.list(principal.tenant),
    presence.online(principal.tenant),
  ]);
  return panels.filter(({ id }) => mayUsePanel(principal, id)).map((panel) => view(services, panel, online));
}

function view(
  { usage }: Services,
  panel: PanelRecord,
  { head, panels: connected }: Awaited<ReturnType<Services['presence']['online']>>,
): Panel {
  const online = connected.get(panel.id);
  const contact = usage.lastContact(panel);
  const { cursor, client, address } = online ?? contact ?? panel;
  const seenAt = contact?.at ?? panel.lastSeenAt;
  return {
    id: panel.id,
    name: panel.name,
    kind: panel.kind,
    topic: panel.topic,
    tags: [...panel.tags],
    location: panel.location,
    display: panel.display,
    events: `/api/panels/${panel.id}/events`,
    createdAt: iso(panel.createdAt),
    online: online !== undefined,
    lastSeenAt: isoOrNull(seenAt),
    // A panel that never connected starts with the live set, so nothing of the log is missing.
    lag: online?.lag ?? (cursor === null ? 0 : Math.max(0, head - cursor)),
    version: client,
    address,
  };
}

/** A token that is bound to one panel registers only that panel, as it does at every start. */
async function refuseOtherName({ tenancy }: Services, principal: Principal, name: string): Promise<void> {
  if (principal.kind !== 'token' || principal.panelId === null) return;
  const own = await tenancy.findPanel(principal.tenant, principal.panelId);
  if (own?.name !== name) throw forbidden();
}

async function checkDisplay(
  { tenancy }: Services,
  tenant: number,
  display: PanelPatch['display'],
): Promise<void> {
  const [first] = incompleteSettings(display ?? {});
  if (first) throw badRequest(`display.${first[0]} needs ${first[1]}`);
  if (display?.timeZone !== undefined) checkTimeZone(display.timeZone, 'display.timeZone');
  if (display?.minLevel === undefined) return;
  const { levels } = await tenancy.current(tenant);
  if (levels.has(display.minLevel)) return;
  throw badRequest(
    `display.minLevel: there is no level "${display.minLevel}"; the levels are ${[...levels.keys()].join(', ')}`,
  );
}
