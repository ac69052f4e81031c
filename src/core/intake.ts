import { createHash } from 'node:crypto';
import { uuidv7 } from 'uuidv7';
import { limits } from '../contract/limits.ts';
import type { Principal } from './access.ts';
import type { Directory } from './directory.ts';
import { AppError, badRequest } from './errors.ts';
import type { CheckedFields } from './notification.ts';
import type { AppendOutcome, Bus, History, Idempotency, NotificationDraft, Route } from './ports.ts';
import type { Decision } from './routing.ts';
import type { Tenancy, TenantSnapshot } from './tenancy.ts';
import type { Throttle, ThrottleDemand, Throttled } from './throttle.ts';

export interface IntakeOptions {
  readonly history: Pick<History, 'append'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly directory: Pick<Directory, 'levels'>;
  readonly tenancy: Tenancy;
  readonly throttle: Throttle;
  readonly now: () => number;
  /** Hears of what was stored, for counting; must not throw, and nothing waits for it. */
  readonly onStored: (tenant: number, draft: NotificationDraft) => void;
}

export type Sender = Extract<Principal, { kind: 'token' }>;

/** The way of one notification, from checked fields to the log. */
export class Intake {
  readonly #options: IntakeOptions;

  constructor(options: IntakeOptions) {
    this.#options = options;
  }

  /**
   * Resolves once the notification is durable; panels are told after that.
   *
   * @returns its id; that of the first when `retryKey` was used with the same content within 24 hours.
   * @throws AppError `conflict` when `retryKey` was used with other content, `unavailable` when it cannot be stored.
   */
  async accept(
    sender: Sender,
    sourceIp: string,
    fields: CheckedFields,
    retryKey: string | null,
  ): Promise<string> {
    const { history, bus, tenancy, throttle, onStored } = this.#options;
    const { tenant } = sender;
    let snapshot = tenancy.peek(tenant) ?? (await tenancy.get(tenant));
    if (!snapshot.levels.has(fields.level)) snapshot = await this.#register(tenant, fields.level);
    const { draft, demands, counted } = this.#draft(sender, sourceIp, fields, snapshot);
    const idempotency = retryKey === null ? null : { key: retryKey, hash: contentHash(fields) };
    let stored = false;
    try {
      const outcome = await history.append(tenant, draft, idempotency);
      stored = outcome.kind === 'stored';
      if (outcome.kind === 'stored') {
        bus.publish(tenant, outcome.entries);
        onStored(tenant, draft);
      }
      return idOf(outcome, idempotency);
    } finally {
      if (!stored) throttle.forget(tenant, demands, draft.id, counted);
    }
  }

  #draft(
    sender: Sender,
    sourceIp: string,
    fields: CheckedFields,
    { router }: TenantSnapshot,
  ): {
    draft: NotificationDraft;
    demands: readonly ThrottleDemand[];
    counted: Throttled | undefined;
  } {
    const { throttle, now } = this.#options;
    const receivedAt = now();
    const id = uuidv7();
    const decision = router.route(
      { ...fields, rank: router.rankOf(fields.level), sourceIp, tokenId: sender.id, tokenName: sender.name },
      receivedAt,
    );
    const counted = throttle.check(sender.tenant, decision.throttle, id, receivedAt);
    const draft = {
      ...resolved(decision, receivedAt),
      id,
      receivedAt,
      title: fields.title,
      message: fields.message,
      sentLevel: fields.level,
      sentTtl: fields.ttl,
      ip: fields.ip,
      host: fields.host,
      key: fields.key,
      url: fields.url,
      sourceIp,
      tokenId: sender.id,
      throttledOn: counted?.on ?? null,
      throttleCount: counted?.count ?? 0,
    };
    return { draft, demands: decision.throttle, counted };
  }

  /** Makes an unknown level the tenant's own. */
  async #register(tenant: number, level: string): Promise<TenantSnapshot> {
    const { directory, tenancy, now } = this.#options;
    if (!(await directory.levels.register(tenant, level, now()))) {
      throw badRequest(
        `level "${level}" is unknown and there are ${limits.customLevelsPerTenant} custom levels already: use one of them, or delete some`,
      );
    }
    return tenancy.refresh(tenant);
  }
}

function resolved(
  { level, rank, ttl, route }: Decision,
  receivedAt: number,
): { level: string; rank: number; ttl: number; route: Route; expiresAt: number | null } {
  return { level, rank, ttl, route, expiresAt: ttl === 0 ? null : receivedAt + ttl };
}

function contentHash(fields: CheckedFields): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('base64url');
}

function idOf(outcome: AppendOutcome, idempotency: Idempotency | null): string {
  if (outcome.kind !== 'conflict') return outcome.id;
  throw new AppError(
    'conflict',
    `Idempotency-Key "${idempotency?.key}" was used with other content: use a new key for a new notification`,
  );
}
