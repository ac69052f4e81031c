import { minRankOf } from '#contract/level-styles.ts';
import { limits } from '#contract/limits.ts';
import { PanelShowing } from '#contract/panel.ts';
import { requireFound } from '#core/errors.ts';
import { notificationEvent } from '#core/stream/frames.ts';
import { IdPath, route } from '../route-schemas.ts';
import type { App, Services } from '../services.ts';

const maxShown = 50;

/** GET /api/panels/{id}/showing: what a panel shows now. */
export function showingRoutes(app: App, { history, tenancy, now }: Services): void {
  app.get(
    '/api/panels/:id/showing',
    route('viewer', {
      summary: 'What a panel shows now, by rank, then newest first',
      description: `At most ${maxShown}; \`more\` counts those behind them, of the ${limits.liveSet} that a panel is given.`,
      params: IdPath,
      response: { 200: PanelShowing },
    }),
    async ({ principal: { tenant }, params }) => {
      const { panels, levels } = await tenancy.get(tenant);
      const panel = requireFound(panels.get(params.id), 'panel');
      const at = now();
      const { positions: live } = await history.live(tenant, panel, at, limits.liveSet);
      const minRank = minRankOf(panel.display, levels);
      const positions = live.filter(({ rank }) => rank >= minRank).map(({ position }) => position);
      const first = positions.slice(0, maxShown);
      const { notifications } = await history.readLive(tenant, first, at, Number.POSITIVE_INFINITY);
      return {
        notifications: notifications.map((each) => notificationEvent(each, at)),
        more: positions.length - first.length,
      };
    },
  );
}
