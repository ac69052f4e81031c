import { uuidv7 } from 'uuidv7';
import { Panel, PanelList, PanelPatch, PanelRegister } from '#contract/panel.ts';
import { actorOf, mayUsePanel, type Principal } from '#core/access.ts';
import { watchPanel } from '#core/attention/lost-panels.ts';
import type { PanelRecord } from '#core/directory.ts';
import { badRequest, forbidden, notFound, requireFound } from '#core/errors.ts';
import { iso, isoOrNull } from '#core/iso-time.ts';
import { tooManyPanels } from '#core/pairing.ts';
import { checkTimeZone } from '#core/time-zone.ts';
import { IdPath, NoContent, problems, route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

/** Panels: screens that registered, and their state. */
export function panelRoutes(app: App, services: Services): void {
  readRoutes(app, services);
  writeRoutes(app, services);
}

function readRoutes(app: App, services: Services): void {
  const policy = { scope: 'panel', role: 'viewer' } as const;

  app.get(
    '/api/panels',
    route(policy, {
      summary: 'Panels, by name',
      description: 'A token that is bound to one panel gets only that panel.',
      response: { 200: PanelList },
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
}

function writeRoutes(app: App, services: Services): void {
  const { directory, tenancy, now, schedule } = services;

  app.post(
    '/api/panels',
    route(
      { scope: 'panel', role: 'admin' },
      {
        summary: 'Register a panel',
        description: 'A name that exists returns its panel, so a screen can register at every start.',
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
      };
      const registered = await directory.panels.register(tenant, wanted, actorOf(principal), now());
      if (!registered) throw tooManyPanels();
      if (registered.created) tenancy.addPanel(tenant, registered.panel);
      reply.code(registered.created ? 201 : 200);
      return panelView(services, principal, registered.panel.id);
    },
  );

  app.patch(
    '/api/panels/:id',
    route('admin', {
      summary: 'Change the name, tags, location or display settings',
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
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      requireFound(await directory.panels.remove(tenant, params.id, actorOf(principal), now()), 'panel');
      // Clears the notification that reports it as lost.
      await watchPanel(schedule, { tenant, id: params.id }, undefined);
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
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
  if (display?.timeZone !== undefined) checkTimeZone(display.timeZone, 'display.timeZone');
  if (display?.minLevel === undefined) return;
  const { levels } = await tenancy.get(tenant);
  if (levels.has(display.minLevel)) return;
  throw badRequest(
    `display.minLevel: there is no level "${display.minLevel}"; the levels are ${[...levels.keys()].join(', ')}`,
  );
}
