import { Type } from 'typebox';
import { type PanelCommand, PanelCommanded, panelCommands } from '#contract/panel.ts';
import type { IdentifyEvent, ReloadEvent, TestEvent } from '#contract/panel-events.ts';
import { actorOf } from '#core/access.ts';
import { notFound } from '#core/errors.ts';
import { problems } from '../responses.ts';
import type { App, Services } from '../services.ts';

/** What each command has the panel's stream say. */
const said = {
  identify: { durationMs: 5_000 } satisfies IdentifyEvent,
  reload: {} satisfies ReloadEvent,
  test: { durationMs: 20_000 } satisfies TestEvent,
} as const;

const summaries: Readonly<Record<PanelCommand, string>> = {
  identify: 'Have a panel show its name, large, for five seconds',
  reload: 'Have a panel load its page anew',
  test: 'Have a panel draw a test card for twenty seconds',
};

/** What a person can have a connected screen do. It is told at once or never: nothing of it is kept for later. */
export function commandRoutes(app: App, { directory, tenantStreams, now }: Services): void {
  for (const command of panelCommands) {
    app.post(
      `/api/panels/:id/${command}`,
      {
        config: { policy: { role: 'member' } },
        schema: {
          tags: ['dashboard'],
          security: [{ key: [] }],
          summary: summaries[command],
          description: `Its stream says \`${command}\`. A screen that is not connected never hears of it.`,
          params: Type.Object({ id: Type.String() }),
          response: { 200: PanelCommanded, ...problems(401, 403, 404, 503) },
        },
      },
      async ({ principal, params: { id } }) => {
        const { tenant } = principal;
        if (!(await directory.panels.noteCommand(tenant, id, command, actorOf(principal), now())))
          throw notFound('panel');
        return { ok: true as const, reached: tenantStreams.sendEvent(tenant, id, command, said[command]) };
      },
    );
  }
}
