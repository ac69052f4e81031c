/**
 * Intake: the path of a notification from validated fields to its log. `notification.ts` validates what a sender sent; intake
 * then registers a new level, routes, applies throttles, and appends the draft with the escalation that rules ask for. `accept`
 * resolves when the notification is durable, and publishes it to the bus after that; what happens after the commit cannot fail
 * the request. A retry key makes sending again safe: the same content returns the id of the first, other content is a
 * `conflict` (`idempotency.ts`). What must be read before storing has four seconds together; then the answer is `unavailable`.
 * Notifications that Belfry itself sends (escalations, missing notifications, lost panels) take the same path by way of
 * `raise`, with an own sender as the author (`own-sender.ts`). `mappings.ts` reads payloads of a tenant's own format, and
 * `webhook-signatures.ts` checks signed ones.
 */
import { limits } from '#contract/limits.ts';
import { badRequest, conflict, unavailable } from '../errors.ts';
import { withinTime } from '../limits/concurrency.ts';
import type { Bus } from '../log/bus.ts';
import type {
  AppendOutcome,
  AppendTerms,
  History,
  Idempotency,
  NotificationDraft,
  ThrottleClaim,
} from '../log/log.ts';
import type { Escalation, TenantId } from '../log/route.ts';
import type { Target } from '../log/target.ts';
import type { Tracer } from '../observability/tracing.ts';
import { RegexTime } from '../routing/regex.ts';
import type { Decision } from '../routing/router.ts';
import type { RoutingSubject } from '../routing/subject.ts';
import {
  claimsOf,
  mustShow,
  type Throttle,
  type ThrottleDemand,
  type Throttled,
} from '../routing/throttle.ts';
import type { Directory } from '../tenants/directory.ts';
import type { Tenancy, TenantSnapshot } from '../tenants/tenancy.ts';
import {
  idempotencyOf,
  idOf,
  newNotificationId,
  ownIdempotency,
  type RetryKey,
  withTime,
} from './idempotency.ts';
import { type CheckedFields, newLevelWarning } from './notification.ts';
import {
  type EscalatedRoute,
  keepEscalated,
  type OwnSender,
  ownDecision,
  ownSender,
  ownSenderId,
  type Sender,
  type SilentSender,
} from './own-sender.ts';

export interface IntakeOptions {
  readonly history: Pick<History, 'append' | 'find' | 'findRepeat'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly directory: Pick<Directory, 'levels'>;
  readonly tenancy: Tenancy;
  readonly throttle: Throttle;
  /** Restarts or ends the expectation of a key, before the notification is stored. Returns a warning for the sender, if there is one. */
  readonly expect: (sender: Sender, sourceIp: string, fields: CheckedFields) => Promise<string | undefined>;
  /** Whether work with this key began, so that this notification ends it. */
  readonly isRunning: (tenant: TenantId, key: string) => boolean | Promise<boolean>;
  readonly now: () => number;
  /** Called for each stored notification, for counting; not awaited. `endsDelivered`: as in `AppendOutcome`. */
  readonly onStored: (tenant: number, draft: NotificationDraft, endsDelivered: boolean) => void;
  readonly onError: (error: unknown) => void;
  readonly tracer?: Tracer | undefined;
  /** Why a shared database cannot be used now, as a sentence; undefined if it can. */
  readonly problem?: (() => string | undefined) | undefined;
}

/** A notification that Belfry itself sends, with the key that makes a retry safe. */
export interface OwnNotification {
  readonly by: OwnSender;
  readonly fields: CheckedFields;
  /** Not needed for an escalation. */
  readonly retryKey?: RetryKey;
  /** Set for an escalation, which is stored only in the place of what it escalates. */
  readonly to?: EscalatedRoute;
  /** It goes to these panels, and nowhere else. */
  readonly only?: Target;
  /** Set for a missing notification: the sender that did not send it. */
  readonly inPlaceOf?: SilentSender;
  /** Called with the id of the notification that it replaces on panels, once it is stored. */
  readonly onReplaced?: (id: string) => void;
}

export interface Accepted {
  readonly id: string;
  readonly warning: string | undefined;
}

/** How many replacements of a throttle's notification are followed; after more of them it counts as cleared. */
const mostReplacements = 8;

/** The longest time of a commit; see `write-queue.ts`. */
const stalledMs = 3_000;

/** The longest time for everything that is read before a notification is stored. Its sender must be answered within five seconds. */
const readMs = 4_000;

interface Arrival {
  /** Reads that come before storing must end by then (`performance.now()`). */
  readonly readUntil: number;
  readonly sender: Sender;
  readonly sourceIp: string;
  readonly fields: CheckedFields;
  readonly idempotency: Idempotency | null;
  /**
   * Set for an escalation. Rules then only add panels and channels: they do not change the level, throttle it, or escalate it
   * again.
   */
  readonly escalatedTo?: EscalatedRoute | undefined;
  readonly only?: Target | undefined;
  /** Set when Belfry sends in the place of the sender. */
  readonly origin?: OwnSender | undefined;
  readonly onReplaced?: OwnNotification['onReplaced'];
}

interface PreparedNotification extends Pick<Arrival, 'readUntil'> {
  readonly draft: NotificationDraft;
  readonly demands: readonly ThrottleDemand[];
  readonly counted: Throttled | undefined;
  readonly escalation: Escalation | undefined;
}

/** How often a draft is made anew because its alarm has changed. Each time, a step was sent or somebody has acted. */
const mostChanges = 10;

/** Takes a notification from validated fields to the log. */
export class Intake {
  readonly #options: IntakeOptions;
  readonly #regexTime = new RegexTime();
  /** Notifications that a throttle shows, and retry keys, whose storing is not finished; each promise settles when it is. */
  readonly #undecided = new Map<string, Promise<void>>();

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the notification is durable. After that it goes to panels.
   *
   * @returns its id; that of the first when `retryKey` was used with the same content within its time. The warning is set if
   * the notification has an expectation that was not accepted, or a level that the tenant did not have.
   * @throws AppError `conflict` when `retryKey` was used with other content, `unavailable` when it cannot be stored.
   */
  async accept(
    sender: Sender,
    sourceIp: string,
    fields: CheckedFields,
    retryKey: RetryKey | null,
  ): Promise<Accepted> {
    const idempotency = retryKey && idempotencyOf(retryKey, fields);
    const arrival = { sender, sourceIp, fields, idempotency, readUntil: performance.now() + readMs };
    const { levels } =
      this.#options.tenancy.peek(sender.tenant) ?? (await this.#options.tenancy.get(sender.tenant));
    const newLevel = levels.has(fields.level) ? undefined : newLevelWarning(fields.level);
    if (!(await this.#isExpecting(arrival))) return { id: await this.#accept(arrival), warning: newLevel };
    // A repeat does not change the expectation, not even one that comes while the first is being stored.
    const name = idempotency && `retry ${sender.tenant} ${idempotency.key}`;
    while (name && this.#undecided.has(name)) await this.#undecided.get(name);
    const decided = name ? this.#hold(name) : undefined;
    try {
      const repeat = await this.#inTime(arrival, () => this.#findRepeat(sender.tenant, idempotency));
      if (repeat !== undefined) return { id: repeat, warning: undefined };
      const { expect } = this.#options;
      const warning = await this.#inTime(arrival, () => expect(sender, sourceIp, fields));
      return { id: await this.#accept(arrival), warning: warning ?? newLevel };
    } finally {
      decided?.();
    }
  }

  /** Whether the notification may change what its key expects. */
  #isExpecting(arrival: Arrival): boolean | Promise<boolean> {
    const { sender, fields } = arrival;
    const { key, expect } = fields;
    if (expect || key === null) return expect !== undefined;
    const isRunning = this.#options.isRunning(sender.tenant, key);
    if (typeof isRunning === 'boolean') return isRunning;
    // The reading has begun, and nobody may wait for it: a known problem refuses the notification at once.
    isRunning.catch(() => undefined);
    return this.#inTime(arrival, () => isRunning);
  }

  /**
   * As {@link accept}, for a notification of Belfry itself. A retry may have another text. A level that the tenant does not have
   * becomes `error`.
   *
   * @throws AppError `conflict` when what an escalation escalates no longer stands, or is acknowledged or shelved.
   */
  async raise(
    tenant: TenantId,
    { by, fields, retryKey, to, only, inPlaceOf, onReplaced }: OwnNotification,
  ): Promise<string> {
    const { levels } = await this.#options.tenancy.get(tenant);
    const known = levels.has(fields.level) ? fields : { ...fields, level: 'error' };
    return this.#accept({
      readUntil: performance.now() + readMs,
      sender: { ...ownSender(tenant, by), ...inPlaceOf?.token },
      sourceIp: inPlaceOf?.sourceIp ?? '127.0.0.1',
      fields: known,
      idempotency: retryKey ? ownIdempotency(retryKey) : null,
      escalatedTo: to,
      only,
      origin: inPlaceOf && by,
      onReplaced,
    });
  }

  async #accept(arrival: Arrival): Promise<string> {
    const { tenancy, throttle } = this.#options;
    const { sender, fields, idempotency } = arrival;
    const { tenant } = sender;
    let snapshot = tenancy.peek(tenant) ?? (await tenancy.get(tenant));
    if (!snapshot.levels.has(fields.level)) {
      // A repeat registers no level.
      const repeat = await this.#inTime(arrival, () => this.#findRepeat(tenant, idempotency));
      if (repeat !== undefined) return repeat;
      snapshot = await this.#register(sender, fields.level);
    }
    /** The cards on which a throttle would have counted it. */
    const insteadOf: string[] = [];
    for (;;) {
      let made = this.#draft(arrival, snapshot);
      // The notification that it would be counted on may still be refused. Then this one must be shown.
      while (made instanceof Promise) {
        await made;
        made = this.#draft(arrival, tenancy.peek(tenant) ?? snapshot);
      }
      const on = made.counted?.on;
      const { draft } = made;
      if (on !== undefined && (await this.#inTime(arrival, () => this.#mustShow(tenant, draft, on)))) {
        throttle.forget(tenant, made.demands, on, undefined);
        insteadOf.push(on);
        continue;
      }
      const outcome = await this.#store(tenant, made, idempotency, insteadOf);
      const first = outcome.kind === 'stored' ? outcome.entries[0] : undefined;
      if (first?.kind === 'clear') arrival.onReplaced?.(first.id);
      // Another node shows a similar notification, so the next draft is counted on that one.
      if (outcome.kind === 'changed') throw conflict('what it escalates no longer stands, or is handled');
      if (outcome.kind !== 'throttled') return idOf(outcome, idempotency);
      snapshot = tenancy.peek(tenant) ?? snapshot;
    }
  }

  /** @throws AppError `unavailable` when the database is known not to answer, or has not answered in time. */
  #inTime<T>({ readUntil }: Pick<Arrival, 'readUntil'>, work: () => Promise<T>): Promise<T> {
    const problem = this.#options.problem?.();
    if (problem !== undefined) return Promise.reject(unavailable(`not stored: ${problem}`));
    return withinTime(work(), readUntil - performance.now(), () =>
      unavailable('not stored: the database has not answered in time; try again'),
    );
  }

  /** Whether it is shown although a throttle has shown the notification `on`. */
  async #mustShow(tenant: TenantId, draft: NotificationDraft, on: string): Promise<boolean> {
    const { history } = this.#options;
    const shown = await history.find(tenant, on);
    let current = shown;
    for (let i = 0; i < mostReplacements && current?.cleared?.reason === 'replaced'; i++)
      current = await history.find(tenant, current.cleared.by);
    return mustShow(draft, shown, current);
  }

  async #findRepeat(tenant: TenantId, idempotency: Idempotency | null): Promise<string | undefined> {
    const { history, now } = this.#options;
    const repeat = idempotency && (await history.findRepeat(tenant, idempotency, now()));
    return repeat ? idOf(repeat, idempotency) : undefined;
  }

  /** The id that `accept` would return because this is a repeat. */
  findEarlier(tenant: TenantId, fields: CheckedFields, retryKey: RetryKey): Promise<string | undefined> {
    return this.#findStored(tenant, idempotencyOf(retryKey, fields));
  }

  /** The id of the notification that was raised with this key. */
  findRaised(tenant: TenantId, retryKey: RetryKey): Promise<string | undefined> {
    return this.#findStored(tenant, ownIdempotency(retryKey));
  }

  async #findStored(tenant: TenantId, idempotency: Idempotency): Promise<string | undefined> {
    const { history, now } = this.#options;
    const repeat = await history.findRepeat(tenant, idempotency, now());
    return repeat?.kind === 'repeated' ? repeat.id : undefined;
  }

  async #store(
    tenant: TenantId,
    made: PreparedNotification,
    idempotency: Idempotency | null,
    insteadOf: readonly string[],
  ): Promise<AppendOutcome> {
    const { throttle, now } = this.#options;
    const { demands, counted } = made;
    const { id } = made.draft;
    const isFirst = demands.length > 0 && !counted;
    const decided = isFirst ? this.#hold(id) : undefined;
    let outcome: AppendOutcome | undefined;
    try {
      outcome = await this.#append(tenant, made, idempotency, isFirst ? claimsOf(demands, insteadOf) : []);
      return outcome;
    } finally {
      if (outcome?.kind === 'throttled') {
        // The other node's clock may be ahead.
        const shownAt = Math.min(outcome.shownAt, now());
        throttle.adopt(tenant, demands, id, { ...outcome, shownAt });
      } else if (outcome?.kind !== 'stored') {
        throttle.forget(tenant, demands, id, counted);
      }
      decided?.();
    }
  }

  /**
   * A repeat of an escalated alarm keeps its level and panels; one that a throttle counts is counted on what stands. What that is may
   * change until the repeat is stored.
   */
  async #append(
    tenant: TenantId,
    made: PreparedNotification,
    idempotency: Idempotency | null,
    claims: readonly ThrottleClaim[],
  ): Promise<AppendOutcome> {
    const { history } = this.#options;
    const { counted, escalation } = made;
    let { draft } = made;
    const { escalates: replaces, escalated } = draft.route;
    let terms: AppendTerms = { claims };
    if (escalation) terms = { claims, escalation };
    if (replaces !== undefined && escalated) terms = { replaces, step: escalated.times - 1 };
    for (let i = 0; i < mostChanges; i++) {
      const outcome = await history.append(tenant, draft, withTime(idempotency, draft), terms);
      if (outcome.kind === 'stored') this.#announce(tenant, draft, outcome);
      if (outcome.kind !== 'changed' || replaces !== undefined) return outcome;
      const { id, step } = outcome;
      if (counted) {
        draft = { ...draft, throttledOn: id };
        continue;
      }
      const standing = id === null ? undefined : await this.#inTime(made, () => history.find(tenant, id));
      draft = standing?.route.escalated ? keepEscalated(made.draft, standing) : made.draft;
      terms = { ...terms, step };
    }
    throw unavailable('not stored: its alarm has changed too often; try again');
  }

  /** The notification is durable: an error from here on does not change the answer to its sender. */
  #announce(
    tenant: number,
    draft: NotificationDraft,
    { entries, endsDelivered }: Extract<AppendOutcome, { kind: 'stored' }>,
  ): void {
    const { bus, onStored, onError } = this.#options;
    try {
      bus.publish(tenant, entries);
      onStored(tenant, draft, endsDelivered === true);
    } catch (error) {
      onError(error);
    }
  }

  /** Makes notifications that would be counted on `id`, or repeat it, wait. Call the returned function once it is stored or refused. */
  #hold(id: string): () => void {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    this.#undecided.set(id, promise);
    const timer = setTimeout(
      () => reject(unavailable('not stored: one like it has waited for the disk for too long')),
      stalledMs,
    ).unref();
    return () => {
      clearTimeout(timer);
      this.#undecided.delete(id);
      resolve();
    };
  }

  /** Returns the draft, or a promise to wait for before the next attempt. */
  #draft(
    { sender, sourceIp, fields, escalatedTo, only, origin, readUntil }: Arrival,
    { router }: TenantSnapshot,
  ): PreparedNotification | Promise<void> {
    const { throttle, now, tracer } = this.#options;
    const routing = tracer?.start('route');
    const receivedAt = now();
    const id = newNotificationId(receivedAt);
    const started = router.regexWeight > 0 ? performance.now() : 0;
    const sent = subjectOf({ sender, sourceIp, fields }, router.rankOf(fields.level));
    const subject = origin ? { ...sent, origin: ownSenderId(origin) } : sent;
    const decided = router.route(subject, receivedAt, this.#regexTime.allowance(sender.tenant, receivedAt));
    const decision = ownDecision(decided, subject, { escalatedTo, only });
    if (router.regexWeight > 0) this.#regexTime.spend(sender.tenant, performance.now() - started, receivedAt);
    routing?.end();
    const on = throttle.find(sender.tenant, decision.throttle, receivedAt);
    const undecided = on === undefined ? undefined : this.#undecided.get(on);
    if (undecided) return undecided;
    const counted = throttle.check(sender.tenant, decision.throttle, id, receivedAt);
    const draft = draftOf({ sender, sourceIp, fields }, { id, receivedAt, decision, counted });
    return { draft, demands: decision.throttle, counted, escalation: decision.escalation, readUntil };
  }

  /** Registers an unknown level as a custom level of the tenant. */
  async #register({ tenant, name }: Sender, level: string): Promise<TenantSnapshot> {
    const { directory, tenancy, now } = this.#options;
    if (!(await directory.levels.register(tenant, level, `token ${name}`, now()))) {
      throw badRequest(
        `level "${level}" is unknown and there are ${limits.customLevelsPerTenant} custom levels already: use one of them, or delete some`,
      );
    }
    return tenancy.refresh(tenant);
  }
}

/** From what a sender sent to the subject of routing and the stored draft. */

interface Sent {
  readonly sender: Pick<Sender, 'id' | 'name'>;
  readonly sourceIp: string;
  readonly fields: CheckedFields;
}

/** `rank`: the rank of the sent level. */
function subjectOf({ sender, sourceIp, fields }: Sent, rank: number): RoutingSubject {
  const { id: tokenId, name: tokenName } = sender;
  return { ...fields, rank, sourceIp, tokenId, tokenName };
}

function draftOf(
  { sender, sourceIp, fields: { level: sentLevel, ttl: sentTtl, expect: _, ...texts } }: Sent,
  {
    id,
    receivedAt,
    decision: { level, rank, ttl, route },
    counted,
  }: {
    readonly id: string;
    readonly receivedAt: number;
    readonly decision: Decision;
    readonly counted: Throttled | undefined;
  },
): NotificationDraft {
  return {
    ...texts,
    id,
    receivedAt,
    level,
    rank,
    ttl,
    route,
    expiresAt: ttl === 0 ? null : receivedAt + ttl,
    sentLevel,
    sentTtl,
    sourceIp,
    tokenId: sender.id,
    throttledOn: counted?.on ?? null,
    throttleCount: counted?.count ?? 0,
  };
}
