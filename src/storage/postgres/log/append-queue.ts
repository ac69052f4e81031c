/** Group commit: what gathers while one batch is committed is the next batch. */
import { limits } from '#contract/limits.ts';
import { isResolve } from '#core/channels/channels.ts';
import { AppError, unavailable } from '#core/errors.ts';
import { afterWaiting } from '#core/limits/concurrency.ts';
import type {
  Acknowledgement,
  AppendOutcome,
  AppendTerms,
  Clear,
  History,
  Idempotency,
  NotificationDraft,
  ThrottleClaim,
} from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import { indexTerms } from '#core/search/index-terms.ts';
import { columnList, columnValue, isShown } from '../../log/history-rows.ts';
import type { Availability } from '../connections.ts';
import type { LogWrite } from './partitions.ts';
import { rowBytes } from './rows.ts';

/** Notifications in one transaction, at the most: more of them gain nothing, and the first would wait for the last. */
const mostInBatch = 256;
/** A commit takes milliseconds; one that takes this long may take for ever. */
const stalledMs = 2_000;
/** A batch that is not stored after this time is answered with 503. It may still be stored later; a retry with the same idempotency key finds out. */
const answerMs = 4_000;

interface Waiting {
  readonly tenant: TenantId;
  readonly draft: NotificationDraft;
  readonly idempotency: Idempotency | null;
  readonly terms: AppendTerms;
  readonly promise: Promise<AppendOutcome>;
  resolve(outcome: AppendOutcome): void;
  reject(error: unknown): void;
}

type Taken = Pick<Clear, 'position' | 'id' | 'at' | 'by' | 'route'>;

interface Answer {
  /** How many more channels a resolve was queued for. */
  readonly resolved?: number | null;
  readonly kind: AppendOutcome['kind'];
  /** null: it is changed, and continues no escalation. */
  readonly found_id: string;
  readonly at_position: number | null;
  /** And, marked, the acknowledgement that it takes over. */
  readonly clears:
    | readonly (Taken & {
        readonly acknowledged?: true;
        readonly note?: string | null;
        readonly until?: number;
      })[]
    | null;
  /** Of a throttle that shows `found_id`. */
  readonly throttled_by: string;
  /** When the throttle began to show it; of `changed`: the step. */
  readonly shown_at: number;
  /** Its number among those that were counted on the same one; null: it was not counted. */
  readonly counted: number | null;
  /** Why it is on no panel, as its route then says; null: it is, or has no panels. */
  readonly off: Pick<Route, 'shelved' | 'suppressed'> | null;
}

export interface AppendQueueOptions {
  /** Notifications that may wait before more are refused. */
  readonly capacity: number;
  readonly availability: Availability;
}

/** One batch is under way at a time. A process has one queue; several processes may have one each on the same database. */
export class AppendQueue {
  readonly #write: LogWrite;
  readonly #options: AppendQueueOptions;
  #waiting: Waiting[] = [];
  #underWay: readonly Waiting[] = [];

  constructor(write: LogWrite, options: AppendQueueOptions) {
    this.#write = write;
    this.#options = options;
  }

  /** Why nothing can be stored now; undefined when all is well. */
  get problem(): string | undefined {
    return this.#options.availability.problem;
  }

  /** Accepted and not yet durable. */
  get depth(): number {
    return this.#waiting.length + this.#underWay.length;
  }

  /**
   * Resolves once it is committed.
   * @throws AppError `unavailable` at once when the queue is full or the database is known not to take writes.
   */
  readonly push: History['append'] = (tenant, draft, idempotency, terms = {}) => {
    const { problem } = this;
    if (problem !== undefined) return Promise.reject(unavailable(`not stored: ${problem}`));
    if (this.depth >= this.#options.capacity)
      return Promise.reject(
        unavailable(
          `not stored: ${this.#options.capacity} notifications are waiting for the database; try again`,
        ),
      );
    const { promise, resolve, reject } = Promise.withResolvers<AppendOutcome>();
    this.#waiting.push({ tenant, draft, idempotency, terms, promise, resolve, reject });
    // What arrives in the same turn goes into the same batch.
    if (this.#underWay.length === 0 && this.#waiting.length === 1) setImmediate(() => void this.#flush());
    return promise;
  };

  /** Resolves when the notification with this id is stored or refused; at once when it is not in the queue. */
  async settled(id: string): Promise<void> {
    const job = [...this.#underWay, ...this.#waiting].find(({ draft }) => draft.id === id);
    await job?.promise.catch(() => {});
  }

  /** Resolves when nothing waits any more, or after `withinMs`. */
  async close(withinMs: number): Promise<void> {
    const end = performance.now() + withinMs;
    while (this.depth > 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async #flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      this.#underWay = batch;
      const stop = this.#watch(batch);
      await this.#store(batch);
      stop();
      this.#underWay = [];
    }
  }

  /** Until the returned function is called: a batch that takes too long is answered, and so are those that wait for it. */
  #watch(batch: readonly Waiting[]): () => void {
    const problem = `a write has waited ${stalledMs / 1000} s for the database`;
    const notStalled = afterWaiting(stalledMs, () => this.#options.availability.stalled(problem));
    const notLate = afterWaiting(answerMs, () => {
      for (const { reject } of batch)
        reject(
          unavailable(`not known to be stored: ${problem}; send it again with the same idempotency key`),
        );
      for (const { reject } of this.#waiting.splice(0)) reject(unavailable(`not stored: ${problem}`));
    });
    return () => {
      notStalled();
      notLate();
    };
  }

  async #store(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#commit(batch);
      for (const [i, job] of batch.entries()) job.resolve(toOutcome(job.draft, answers[i] as Answer));
    } catch (error) {
      const isUnavailable = error instanceof AppError && error.code === 'unavailable';
      // A failing job does not fail the others.
      if (batch.length > 1 && !isUnavailable) for (const job of batch) await this.#store([job]);
      else this.#fail(batch, error);
    }
  }

  /** In the order in which they came, but no key and no idempotency key of a tenant twice: the second waits for the next batch. */
  #takeBatch(): Waiting[] {
    const taken = new Set<string>();
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    for (const job of this.#waiting) {
      const keys = keysOf(job);
      if (batch.length < mostInBatch && !keys.some((key) => taken.has(key))) batch.push(job);
      else rest.push(job);
      // One that waits goes before later ones with the same key.
      for (const key of keys) taken.add(key);
    }
    this.#waiting = rest;
    return batch;
  }

  #commit(batch: readonly Waiting[]): Promise<readonly Answer[]> {
    // Intake gives the same decision as the same object.
    const decisions = new Map<Route, number>();
    for (const { draft } of batch)
      if (!decisions.has(draft.route)) decisions.set(draft.route, decisions.size);
    const jobs = batch.map((job, n) => toJob(job, n, decisions.get(job.draft.route)));
    const values = [JSON.stringify(jobs), JSON.stringify([...decisions.keys()].map(toDecision))];
    const wanted = batch.flatMap(toDeliveries);
    const resolves = batch.flatMap(toResolve);
    const append =
      wanted.length === 0 && resolves.length === 0
        ? { name: 'append', text: 'SELECT * FROM append_to_log($1, $2)', values }
        : {
            name: 'append-and-queue',
            text: appendAndQueue,
            values: [...values, JSON.stringify(wanted), JSON.stringify(resolves)],
          };
    // One for itself, one for what it may replace, and one for what it takes over.
    return this.#write('all', 3 * batch.length, async (client) => (await client.query<Answer>(append)).rows);
  }

  #fail(batch: readonly Waiting[], error: unknown): void {
    for (const { reject } of batch) reject(error);
    const { problem } = this.#options.availability;
    if (problem === undefined) return;
    for (const { reject } of this.#waiting.splice(0)) reject(unavailable(`not stored: ${problem}`));
  }
}

function keysOf({ tenant, draft, idempotency, terms: { replaces } }: Waiting): string[] {
  const keys: string[] = [];
  if (draft.key !== null) keys.push(`${tenant} key ${draft.key}`);
  if (idempotency) keys.push(`${tenant} retry ${idempotency.key}`);
  if (replaces !== undefined) keys.push(`${tenant} id ${replaces}`);
  return keys;
}

/** As the type `append_decision` of the schema has it. */
function toDecision(route: Route, nr: number) {
  const { revision, target } = route;
  return { nr, route, to_all: target.all, to_ids: target.ids, to_tags: target.tags, revision };
}

/** As the type `log_fields` of the schema has it. */
export function fieldsOf(draft: NotificationDraft): Record<string, string | number | undefined> {
  const fields: Record<string, string | number | undefined> = {};
  for (const [field, { column }] of columnList) fields[column] = columnValue(draft, field) ?? undefined;
  return fields;
}

/** As the type `append_entry` of the schema has it; what is undefined is left out, so that PostgreSQL has less to read. */
function toJob(
  { tenant, draft: d, idempotency, terms }: Pick<Waiting, 'tenant' | 'draft' | 'idempotency' | 'terms'>,
  n: number,
  decision?: number,
) {
  const { route } = d;
  const { claims = [], escalation, step = 0, replaces } = terms;
  return {
    n,
    tenant,
    decision,
    id: d.id,
    at: d.receivedAt,
    shown: isShown(d),
    ttl: d.ttl,
    throttle_count: d.throttleCount,
    expires_at: d.expiresAt ?? undefined,
    throttled_on: d.throttledOn ?? undefined,
    fields: fieldsOf(d),
    terms: indexTerms(tenant, d, route),
    bytes: rowBytes(d.title, d.message),
    ...(idempotency && {
      idempotency_key: idempotency.key,
      idempotency_hash: idempotency.hash,
      idempotency_is_state: idempotency.isState ?? false,
      idempotency_until: idempotency.until ?? d.receivedAt + limits.idempotencyMs,
    }),
    claims: claims.length === 0 ? undefined : claims.map(toClaim),
    ...((escalation || replaces !== undefined) && {
      ...{ escalation: escalation && JSON.stringify(escalation), step, replaces },
    }),
  };
}

const toClaim = ({ name, perMs, insteadOf }: ThrottleClaim) => ({
  name,
  per_ms: perMs,
  instead_of: insteadOf,
});

function toChange({
  acknowledged,
  note = null,
  until,
  ...taken
}: NonNullable<Answer['clears']>[number]): Clear | Acknowledgement {
  return acknowledged
    ? { ...taken, kind: 'acknowledgement', note, ...(until !== undefined && { until }) }
    : { ...taken, kind: 'clear', reason: 'replaced' };
}

function toOutcome(draft: NotificationDraft, answer: Answer): AppendOutcome {
  const { kind, found_id: id, clears } = answer;
  if (kind === 'repeated') return { kind, id };
  if (kind === 'conflict') return { kind };
  if (kind === 'changed') return { kind, id, step: answer.shown_at };
  if (kind === 'throttled') return { kind, by: answer.throttled_by, on: id, shownAt: answer.shown_at };
  const position = answer.at_position as number;
  const throttleCount = answer.counted ?? draft.throttleCount;
  const route = answer.off ? { ...draft.route, ...answer.off } : draft.route;
  return {
    kind,
    id: draft.id,
    entries: [
      ...(clears ?? []).map(toChange),
      { ...draft, route, throttleCount, kind: 'notification' as const, position },
    ].sort((a, b) => a.position - b.position),
    ...(Number(answer.resolved ?? 0) > 0 && { endsDelivered: true }),
  };
}

/** Queues the deliveries of notifications in the statement that appends them. */

interface Appended {
  readonly tenant: TenantId;
  readonly draft: NotificationDraft;
}

/**
 * One of a shelved or suppressed alarm goes to no channel. The channel is locked until the commit, so that a transaction that deletes
 * it sees what was queued for it.
 */
const appendAndQueue = `WITH appended AS MATERIALIZED (SELECT * FROM append_to_log($1, $2)),
  wanted AS MATERIALIZED (
    SELECT w.tenant, c.id AS channel, a.at_position, w.id, w.at, w.open_key FROM appended a
    JOIN jsonb_to_recordset($3) w(n bigint, tenant bigint, id text, at bigint, channel text, open_key text) ON w.n = a.job_n
    JOIN channels c ON c.tenant = w.tenant AND c.id = w.channel AND c.enabled = 1
    WHERE a.kind = 'stored' AND a.off IS NULL FOR KEY SHARE OF c
  ),
  closed AS (
    UPDATE deliveries d SET open_key = NULL FROM wanted w
    WHERE d.tenant = w.tenant AND d.open_key = w.open_key AND d.channel = w.channel
  ),
  queued AS (
    INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, open_key)
    SELECT tenant, channel, at_position, id, 'pending', at, open_key FROM wanted
  ),
  resolved AS MATERIALIZED (
    SELECT r.n, queue_resolve(r.tenant, r.key, r.id, a.at_position, r.at, r.channels) AS count FROM appended a
    JOIN jsonb_to_recordset($4) r(n bigint, tenant bigint, key text, id text, at bigint, channels text[]) ON r.n = a.job_n
    WHERE a.kind = 'stored'
  )
  SELECT a.*, r.count AS resolved FROM appended a LEFT JOIN resolved r ON r.n = a.job_n ORDER BY job_n`;

/** One for each channel that its route names. */
function toDeliveries({ tenant, draft }: Appended, n: number) {
  const { id, receivedAt: at, route, throttledOn, key } = draft;
  if (throttledOn !== null) return [];
  const openKey = isResolve(draft) ? null : key;
  return (route.channels ?? []).map((channel) => ({ n, tenant, id, at, channel, open_key: openKey }));
}

/** The end of an alert, which also goes to the channels that had the alert; `channels`: those that get it anyway. */
function toResolve({ tenant, draft }: Appended, n: number) {
  const { id, receivedAt: at, route, throttledOn, key } = draft;
  if (!isResolve(draft) || route.muted) return [];
  return [{ n, tenant, key, id, at, channels: throttledOn === null ? (route.channels ?? []) : [] }];
}
