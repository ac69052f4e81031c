import { type PanelCommand, PanelCommanded, panelCommands } from '#contract/panel.ts';
import type { IdentifyEvent, ReloadEvent, TestEvent } from '#contract/panel-events.ts';
import { actorOf } from '#core/access.ts';
import { notFound } from '#core/errors.ts';
import { IdPath, route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

/** The event that each command sends to the panel. */
const events = {
  identify: { durationMs: 5_000 } satisfies IdentifyEvent,
  reload: {} satisfies ReloadEvent,
  test: { durationMs: 20_000 } satisfies TestEvent,
} as const;

const summaries: Readonly<Record<PanelCommand, string>> = {
  identify: 'Have a panel show its name, large, for five seconds',
  reload: 'Have a panel load its page anew',
  test: 'Have a panel draw a test card for twenty seconds',
};

/** Commands to a connected screen. They are sent at once or never; nothing is stored for later. */
export function commandRoutes(app: App, { directory, presence, now }: Services): void {
  for (const command of panelCommands) {
    app.post(
      `/api/panels/:id/${command}`,
      route('member', {
        summary: summaries[command],
        description: `Sends the event \`${command}\` to its stream. A screen that is not connected misses it.`,
        params: IdPath,
        response: { 200: PanelCommanded },
      }),
      async ({ principal, params: { id } }) => {
        const { tenant } = principal;
        if (!(await directory.panels.noteCommand(tenant, id, command, actorOf(principal), now())))
          throw notFound('panel');
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
