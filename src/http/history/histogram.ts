import { Type } from 'typebox';
import { Histogram } from '#contract/history/overview.ts';
import { limits } from '#contract/limits.ts';
import { badRequest } from '#core/errors.ts';
import { histogramTimes } from '#core/history/histogram.ts';
import { toBuckets } from '#core/history/statistics.ts';
import { isoOrNull } from '#core/time.ts';
import { connectionSignal } from '../client-connection.ts';
import { route, wholeNumber } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';
import { q, queryOf } from './history-query.ts';

const mostBuckets = 200;
const usualBuckets = 60;
const instant = (what: string) => Type.Optional(Type.String({ format: 'date-time', description: what }));

/** GET /api/history/histogram: the matches of a search, counted by time and level. */
export function histogramRoutes(app: App, services: Services): void {
  const { statistics, tenancy, now } = services;
  app.get(
    '/api/history/histogram',
    route(
      'viewer',
      {
        summary: 'Number of matches over time and by level',
        description: `Buckets are of a round length, from 1 s to 7 d, the shortest that gives at most the requested number.
Without after and before it is the range that the search itself names (since:, after:, before:), or the last 24 hours.`,
        querystring: Type.Object({
          q,
          after: instant('Received then or later.'),
          before: instant('Received before then.'),
          buckets: wholeNumber(
            mostBuckets,
            usualBuckets,
            `At most so many, 1 to ${mostBuckets}; ${usualBuckets} when not given.`,
          ),
        }),
        response: { 200: Histogram },
      },
      { expensive: 'count' },
    ),
    async (request) => {
      const { tenant } = request.principal;
      const { q: text, after, before, buckets } = request.query;
      const most = readBuckets(buckets);
      const query = await queryOf(services, tenant, text);
      const { timeZone } = (await tenancy.get(tenant)).record;
      const at = now();
      const range = {
        ...(after !== undefined && { after: readInstant('after', after) }),
        ...(before !== undefined && { before: readInstant('before', before) }),
      };
      const times = histogramTimes(query, range, most, { now: at, timeZone });
      const options = { now: at, timeoutMs: limits.searchMs, signal: connectionSignal(request) };
      const { counts, searchedTo } = await statistics.count(tenant, query, times, options);
      return {
        buckets: toBuckets(counts, times, { first: 0, length: times.buckets }),
        bucketMs: times.bucketMs,
        total: counts.reduce((sum, { count }) => sum + count, 0),
        searchedTo: isoOrNull(searchedTo),
      };
    },
  );
}

function readBuckets(text: string | undefined): number {
  if (text === undefined) return usualBuckets;
  const buckets = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (buckets < 1 || buckets > mostBuckets)
    throw badRequest(`buckets must be a whole number from 1 to ${mostBuckets}`);
  return buckets;
}

/** Date.parse refuses the second 60, which the format allows. */
function readInstant(name: string, text: string): number {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw badRequest(`${name} must be a time that exists, as in 2026-11-01T10:00:00Z`);
  return Math.max(0, at);
}
