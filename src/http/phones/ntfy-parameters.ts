/** What clients of ntfy ask for: headers are looked at before parameters, as ntfy's own server does. */
import type { FastifyRequest } from 'fastify';
import { limits } from '#contract/limits.ts';
import type { Cursor } from '#contract/panels/sse.ts';
import { badRequest } from '#core/errors.ts';
import type { Entry, History } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { NtfyFilter } from '#core/streams/ntfy/encoder.ts';
import { keptMs } from '#core/streams/ntfy/frames.ts';
import { isNtfyId, positionOf } from '#core/streams/ntfy/ids.ts';
import { isTopic } from '#core/tenants/topics.ts';

/** As many as a visitor of ntfy's own server may subscribe to. */
const mostTopics = 30;

/** The topics of a path, each once. @throws AppError `bad-request`. */
export function parseTopics(text: string): readonly string[] {
  const topics = [...new Set(text.split(','))];
  if (topics.length > mostTopics) throw badRequest(`at most ${mostTopics} topics are read by one request`);
  for (const topic of topics)
    if (!isTopic(topic))
      throw badRequest('a topic has 1 to 64 of A-Z, a-z, 0-9, "_" and "-", and is no path of ntfy itself');
  return topics;
}

/** `latest`: only the newest message of each topic. */
export type Since = 'all' | 'none' | 'latest' | { readonly id: string } | { readonly time: number };

export interface NtfyParameters {
  readonly isPoll: boolean;
  readonly since: Since;
  readonly filter: NtfyFilter;
}

/** @throws AppError `bad-request` for a parameter that cannot be read. */
export function readParameters(request: FastifyRequest, now: number): NtfyParameters {
  const query = new URLSearchParams(/\?([^#]*)/.exec(request.url)?.[1] ?? '');
  const read = (...names: readonly string[]): string | undefined => {
    const [first = ''] = names;
    const header = request.headers[`x-${first}`];
    const values = [header, ...names.map((name) => query.get(name))];
    return values.find((value): value is string => typeof value === 'string' && value !== '');
  };
  const isPoll = /^(?:1|yes|true)$/i.test(read('poll', 'po') ?? '');
  const [id, message, title] = [read('id'), read('message', 'm'), read('title', 't')];
  const priorities = read('priority', 'prio', 'p');
  const tags = read('tags', 'tag', 'ta');
  return {
    isPoll,
    since: parseSince(read('since', 'si'), isPoll, now),
    filter: {
      ...(id !== undefined && { id }),
      ...(message !== undefined && { message }),
      ...(title !== undefined && { title }),
      ...(priorities !== undefined && { priorities: parsePriorities(priorities) }),
      ...(tags !== undefined && { tags: tags.split(',').map((tag) => tag.trim()) }),
    },
  };
}

const durationUnits: Readonly<Record<string, number>> = {
  ...{ ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 },
};

export function parseSince(text: string | undefined, isPoll: boolean, now: number): Since {
  if (text === undefined) return isPoll ? 'all' : 'none';
  if (text === 'all' || text === 'none' || text === 'latest') return text;
  if (isNtfyId(text)) return { id: text };
  if (text === '1') return 'none';
  if (/^\d{1,11}$/.test(text)) return { time: Number(text) * 1_000 };
  if (/^(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/.test(text)) {
    const parts = [...text.matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)];
    const ms = parts.reduce(
      (sum, [, value, unit = '']) => sum + Number(value) * (durationUnits[unit] ?? 0),
      0,
    );
    return { time: now - ms };
  }
  throw badRequest(
    'since must be the id of a message, a Unix time in seconds, a duration as in 10m or 2h30m, or one of all, latest and none',
  );
}

const priorityNames: Readonly<Record<string, number>> = {
  ...{ min: 1, low: 2, default: 3, high: 4, max: 5, urgent: 5 },
};

function parsePriorities(text: string): readonly number[] {
  return text.split(',').map((each) => {
    const name = each.trim().toLowerCase();
    const priority = /^[1-5]$/.test(name) ? Number(name) : priorityNames[name];
    if (priority === undefined)
      throw badRequest(
        'priority must be 1 to 5, or one of min, low, default, high and max; with commas between',
      );
    return priority;
  });
}

interface Log {
  readonly history: Pick<History, 'bounds' | 'readAfter'>;
  readonly tenant: TenantId;
  readonly epoch: string;
  readonly now: number;
}

/** Where a stream begins; undefined: with what stands now, as for an id that nobody gave out in this life of the log. */
export async function cursorOf(since: Since, log: Log): Promise<Cursor | undefined> {
  const { history, tenant, epoch, now } = log;
  if (typeof since === 'object' && 'id' in since) {
    const position = positionOf(epoch, since.id);
    return position === undefined ? undefined : { epoch, position };
  }
  const { head, first } = await history.bounds(tenant);
  if (since === 'none') return { epoch, position: head };
  const from = typeof since === 'object' ? Math.max(since.time, now - keptMs) : now - keptMs;
  const oldest = Math.max(first - 1, head - limits.replayEntries);
  return { epoch, position: await lastBefore(log, from, oldest, head) };
}

/** The last position from `low` to `high` before which all entries are older than `time`, if the clock was never set. */
async function lastBefore(
  { history, tenant }: Log,
  time: number,
  from: number,
  head: number,
): Promise<number> {
  let [low, high] = [from, head];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [entry] = (await history.readAfter(tenant, middle, 1)).entries;
    if (entry && timeOf(entry) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** In whole seconds, as clients get it. */
const timeOf = (entry: Entry) =>
  Math.floor((entry.kind === 'notification' ? entry.receivedAt : entry.at) / 1_000) * 1_000;
