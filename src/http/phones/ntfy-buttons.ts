/** The buttons of notifications in the app of ntfy. */
import { Type } from 'typebox';
import { buttonsOf } from '#contract/panels/buttons.ts';
import { PushActed } from '#contract/panels/push.ts';
import { pressButton } from '#core/alarms/buttons.ts';
import { forbidden, notFound } from '#core/errors.ts';
import { allows, assertActive, mayUsePanel, type Principal } from '#core/people/access.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import type { Authenticator } from '../callers/auth.ts';
import { networkOf } from '../callers/forwarded.ts';
import { takeFrom } from '../callers/rate-limits.ts';
import { panelsOrMembers } from '../history/alarm-actions.ts';
import { problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** The longest body, which is ignored. */
const ignoredBytes = 4_096;
/** All presses from one address. */
const pressRate: Rate = { perSecond: 2, burst: 60 };

/** What the buttons of a notification post to: apps send no credential there. */
export function buttonRoute(app: App, services: Services, authenticator: Authenticator): void {
  const { actionLinks, limits, tenancy, directory, now } = services;
  const rate = { name: 'press', rate: pressRate, limiter: limits.approximate('press') };
  void app.register(async (scope: App) => {
    // Apps and tools send a type that they choose, some with an empty body.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null));
    scope.post(
      '/ntfy/act/:link',
      route('public', {
        tags: ['panels'],
        summary: 'Acknowledge or shelve an alarm with the button of its notification on a phone',
        description:
          'The link is of one message about one alarm, and works as long as the panel and the credential of the phone, and from the addresses of the credential. When the alarm comes back, the new message has a new link.',
        params: Type.Object({ link: Type.String({ maxLength: 400 }) }),
        response: { 200: PushActed, ...problems(403, 404, 409) },
        bodyLimit: ignoredBytes,
      }),
      async ({ sourceIp, params }, reply) => {
        await takeFrom(rate, networkOf(sourceIp), now(), reply);
        const link = actionLinks.read(params.link);
        if (!link) throw notFound('link');
        const { tenant, button, notification, position: shownAt } = link;
        const [panel, principal] = await Promise.all([
          tenancy.findPanel(tenant, link.panel),
          authenticator.findById(link.credential, sourceIp),
        ]);
        if (!panel || principal?.tenant !== tenant) throw notFound('link');
        assertActive(await directory.tenants.get(tenant));
        if (!mayAct(principal) || !mayUsePanel(principal, panel.id))
          throw forbidden('the credential of this phone may not acknowledge alarms any more');
        if (!buttonsOf(panel.display.actions).includes(button))
          throw forbidden(`the setting actions of this panel does not allow it to ${button}`);
        const by = `${panel.kind} ${panel.name}`;
        return {
          by: await pressButton(services, tenant, { button, notification, by, within: panel, shownAt }),
        };
      },
    );
  });
}

/** Links are of credentials: people act on the dashboard. */
export const mayAct = (principal: Principal): boolean =>
  principal.kind !== 'person' && allows(panelsOrMembers, principal);
