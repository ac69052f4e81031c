import { Type } from 'typebox';
import { type Expectation, ExpectationList } from '#contract/history/notification.ts';
import { closed } from '#contract/schema.ts';
import { type Expected, endExpectation, graceOf, overdueAt } from '#core/alarms/expectations.ts';
import type { DueTime } from '#core/alarms/schedule.ts';
import { iso } from '#core/time/time.ts';
import { NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** More than a tenant may have. */
const maxListed = 2_000;

/** The expectations of a tenant, which senders set with X-Expect-Every or X-Expect-Cron. */
export function expectationRoutes(app: App, services: Services): void {
  const { schedule } = services;

  app.get(
    '/api/expectations',
    route('viewer', {
      summary: 'The notifications that are expected, by key',
      description:
        'A sender begins one with X-Expect-Every, X-Expect-Cron or X-Expect-Start, and ends it with X-Expect-Every: 0. Any later notification of the key ends work that began with X-Expect-Start.',
      response: { 200: ExpectationList },
    }),
    async ({ principal }) => {
      const due = await schedule.dueTimes.list(principal.tenant, 'expectation', maxListed);
      return { expectations: due.map(expectationView) };
    },
  );

  app.delete(
    '/api/expectations',
    route('member', {
      summary: 'End an expectation; what it raised leaves the panels',
      querystring: closed({ key: Type.String({ minLength: 1, maxLength: 1_000 }) }),
      response: { 204: NoContent, ...problems(404) },
    }),
    async ({ principal, query }) => {
      await endExpectation(services, principal.tenant, query.key);
    },
  );
}

function expectationView({ subject, dueAt, data }: DueTime): Expectation {
  const expected = data as Expected;
  const { isStart, level, title, host, token, lastAt, raised } = expected;
  const { everyMs, cron, timeZone } = expected.after ?? expected;
  return {
    key: subject,
    state: raised === null ? 'waiting' : 'overdue',
    ...{
      everyMs: everyMs ?? null,
      cron: cron ?? null,
      timeZone: cron === undefined ? null : (timeZone ?? null),
    },
    ...{ graceMs: graceOf(expected), isRunning: isStart === true, level, title, host, token },
    lastAt: iso(lastAt),
    // While an expectation waits, its due time is right, even after the clock was set.
    overdueAt: iso(raised === null && dueAt !== null ? dueAt : overdueAt(expected)),
    notificationId: raised,
  };
}
