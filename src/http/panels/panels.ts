import { Type } from 'typebox';
import { uuidv7 } from 'uuidv7';
import { Panel, PanelList, PanelPatch, PanelRegister } from '#contract/panel.ts';
import { actorOf, mayUsePanel, type Principal } from '#core/access.ts';
import type { PanelRecord } from '#core/directory.ts';
import { AppError, badRequest, notFound } from '#core/errors.ts';
import { tooManyPanels } from '#core/pairing.ts';
import { iso } from '#core/stream/frames.ts';
import { checkTimeZone } from '#core/time-zone.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

const Id = Type.Object({ id: Type.String() });
const tags = ['panels'];
const ofPanelsAndPeople = { tags, security: [{ token: [] }, { key: [] }] };
const ofPeople = { tags: ['dashboard'], security: [{ key: [] }] };

/** Panels: screens that registered, and how they stand. */
export function panelRoutes(app: App, services: Services): void {
  readRoutes(app, services);
  writeRoutes(app, services);
}

function readRoutes(app: App, services: Services): void {
  const policy = { scope: 'panel', role: 'viewer' } as const;

  app.get(
    '/api/panels',
    {
      config: { policy },
      schema: {
        ...ofPanelsAndPeople,
        summary: 'Panels, by name',
        description: 'A token that is bound to one panel sees that one.',
        response: { 200: PanelList, ...problems(401, 403) },
      },
    },
    async ({ principal }) => ({ panels: await panelViews(services, principal) }),
  );

  app.get(
    '/api/panels/:id',
    {
      config: { policy },
      schema: {
        ...ofPanelsAndPeople,
        summary: 'One panel, with whether it is connected and how far behind it is',
        params: Id,
        response: { 200: Panel, ...problems(401, 403, 404) },
      },
    },
    async ({ principal, params }) => panelView(services, principal, params.id),
  );
}

function writeRoutes(app: App, services: Services): void {
  const { directory, tenancy, now } = services;

  app.post(
    '/api/panels',
    {
      config: { policy: { scope: 'panel' } },
      schema: {
        tags,
        security: [{ token: [] }],
        summary: 'Register a panel',
        description: 'The same name answers the same panel, so a screen registers at every start.',
        body: PanelRegister,
        response: { 200: Panel, 201: Panel, ...problems(400, 401, 403, 409, 503) },
      },
    },
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
    {
      config: { policy: { role: 'admin' } },
      schema: {
        ...ofPeople,
        summary: 'Rename a panel, change its tags, its place or how it draws',
        description: 'Fields that are not named keep their value; display settings are replaced as a whole.',
        params: Id,
        body: PanelPatch,
        response: { 200: Panel, ...problems(400, 401, 403, 404, 409, 503) },
      },
    },
    async ({ principal, params, body }) => {
      const { tenant } = principal;
      await checkDisplay(services, tenant, body.display);
      if (!(await directory.panels.update(tenant, params.id, body, actorOf(principal), now())))
        throw notFound('panel');
      await tenancy.refresh(tenant);
      return panelView(services, principal, params.id);
    },
  );

  app.delete(
    '/api/panels/:id',
    {
      config: { policy: { role: 'admin' } },
      schema: {
        ...ofPeople,
        summary: 'Delete a panel: its stream is closed, and a token bound to it is revoked',
        params: Id,
        response: { 204: Type.Null({ description: 'Deleted.' }), ...problems(401, 403, 404, 503) },
      },
    },
    async ({ principal, params }, reply) => {
      const { tenant } = principal;
      if (!(await directory.panels.remove(tenant, params.id, actorOf(principal), now())))
        throw notFound('panel');
      await tenancy.refresh(tenant);
      return reply.code(204).send(null);
    },
  );
}

/** @throws AppError `not-found`, for a panel that is not the caller's too. */
export async function panelView(services: Services, principal: Principal, id: string): Promise<Panel> {
  const { directory, tenantStreams } = services;
  const [panel, online] = await Promise.all([
    mayUsePanel(principal, id) ? directory.panels.find(principal.tenant, id) : undefined,
    tenantStreams.online(principal.tenant, id),
  ]);
  if (!panel) throw notFound('panel');
  return view(services, panel, online);
}

/** Read from the directory and not from memory, where a panel's last sign is as old as its last change. */
async function panelViews(services: Services, principal: Principal): Promise<Panel[]> {
  const { directory, tenantStreams } = services;
  const [panels, online] = await Promise.all([
    directory.panels.list(principal.tenant),
    tenantStreams.online(principal.tenant),
  ]);
  return panels.filter(({ id }) => mayUsePanel(principal, id)).map((panel) => view(services, panel, online));
}

function view(
  { usage }: Services,
  panel: PanelRecord,
  { head, panels: connected }: Awaited<ReturnType<Services['tenantStreams']['online']>>,
): Panel {
  const online = connected.get(panel.id);
  const noted = usage.lastContact(panel.id);
  const { cursor, client, address } = online ?? noted ?? panel;
  const seenAt = noted?.at ?? panel.lastSeenAt;
  return {
    id: panel.id,
    name: panel.name,
    tags: [...panel.tags],
    location: panel.location,
    display: panel.display,
    events: `/api/panels/${panel.id}/events`,
    createdAt: iso(panel.createdAt),
    online: online !== undefined,
    lastSeenAt: seenAt === null ? null : iso(seenAt),
    // One that never connected is owed the live set, not the log.
    lag: cursor === null ? 0 : Math.max(0, head - cursor),
    version: client,
    address,
  };
}

/** A screen's own token registers its own panel, which it may do at every start, and no other. */
async function refuseOtherName({ tenancy }: Services, principal: Principal, name: string): Promise<void> {
  if (principal.kind !== 'token' || principal.panelId === null) return;
  const own = (await tenancy.get(principal.tenant)).panels.get(principal.panelId);
  if (own?.name !== name) throw new AppError('forbidden', 'forbidden');
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
