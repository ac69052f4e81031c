/** A payload of a sender with a format of its own, from its body to its answer: each item is a notification. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, forbidden, unavailable } from '#core/errors.ts';
import type { Sender } from '#core/intake.ts';
import type { CheckedFields } from '#core/notification.ts';
import {
  type Answer,
  type Format,
  fieldsOf,
  type Payload,
  retryKeyOf,
  type Stored,
} from '#integrations/incoming.ts';
import { parseLevelMap } from '#integrations/severity.ts';
import type { Services } from '../services.ts';
import { readPayloadBody } from './integration-body.ts';
import { readHeader } from './notify-fields.ts';
import { reasonOf } from './notify-handler.ts';
import type { NotifyLimits } from './notify-limits.ts';
import type { IntakeGate } from './overload.ts';

/** How notifications get in, whatever the way they come. */
export interface IntakeControl {
  readonly rates: NotifyLimits;
  readonly gate: IntakeGate;
}

export interface NamedFormat extends Format {
  readonly name: string;
}

interface Draft {
  readonly fields: CheckedFields;
  readonly retryKey: string | null;
}

type Outcome = Stored | { readonly error: AppError };

export class IntegrationHandler {
  readonly #services: Services;
  readonly #rates: NotifyLimits;
  readonly #gate: IntakeGate;

  constructor(services: Services, { rates, gate }: IntakeControl) {
    this.#services = services;
    this.#rates = rates;
    this.#gate = gate;
  }

  /** Before the body is read. @throws AppError `rate-limited` or `unavailable` when nothing could be stored. */
  async admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (this.#gate.isShut) {
      this.#services.metrics.overload.inc();
      throw unavailable('not stored: more is being sent than can be stored; try again');
    }
    const sender = senderOf(request);
    await this.#rates.load(sender);
    this.#rates.refuseAnyLevel(reply, sender);
  }

  /** @throws AppError when nothing was stored, and when sending all of it again can store more. */
  async handle(request: FastifyRequest, reply: FastifyReply, format: NamedFormat): Promise<Answer> {
    const underWay = this.#gate.enter();
    const sender = senderOf(request);
    try {
      const { payload, drafts } = await this.#read(request, reply, format);
      const outcomes = await this.#storeAll(request, reply, drafts);
      const stored = this.#conclude(sender, outcomes);
      this.#services.metrics.of(sender.tenant).answeredAfter(reply.elapsedTime / 1000);
      return format.answer?.(stored, payload, this.#services.now()) ?? usualAnswer(outcomes);
    } finally {
      this.#gate.leave(underWay);
    }
  }

  /** How the limits stand, for an answer that does not say it yet. */
  async explain(error: AppError, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const sender = senderOf(request);
    this.#services.metrics.of(sender.tenant).rejected(reasonOf(error));
    if (!reply.hasHeader('ratelimit')) await this.#rates.writeHeaders(reply, sender);
  }

  /** What cannot be read is paid for, too. */
  async #read(
    request: FastifyRequest,
    reply: FastifyReply,
    format: NamedFormat,
  ): Promise<{ payload: Payload; drafts: Draft[] }> {
    try {
      const query = new URLSearchParams(request.url.split('?')[1] ?? '');
      const levels = parseLevelMap(query.getAll('level'));
      const payload = {
        body: await readPayloadBody(request.raw, request.body as Buffer | undefined, format),
        header: (name: string) => readHeader(request.raw.rawHeaders, name),
        query,
        params: request.params as Payload['params'],
      };
      const drafts = format.read(payload).map((item) => {
        const fields = fieldsOf(item, levels);
        return { fields, retryKey: retryKeyOf(format.name, item, fields) };
      });
      return { payload, drafts };
    } catch (error) {
      this.#rates.take(reply, senderOf(request), undefined);
      throw error;
    }
  }

  /** In their order. Of several, those that were stored before are found first, so that they cost nothing of the limits. */
  async #storeAll(
    request: FastifyRequest,
    reply: FastifyReply,
    drafts: readonly Draft[],
  ): Promise<Outcome[]> {
    const { intake } = this.#services;
    const sender = senderOf(request);
    const earlier =
      drafts.length > 1 ? await Promise.all(drafts.map((draft) => this.#findEarlier(sender, draft))) : [];
    const store = async ({ fields, retryKey }: Draft, i: number): Promise<Outcome> => {
      const id = earlier[i];
      if (id !== undefined) return { id, fields };
      try {
        this.#rates.take(reply, sender, fields.level);
        return { id: await intake.accept(sender, request.sourceIp, fields, retryKey), fields };
      } catch (error) {
        if (error instanceof AppError) return { error };
        throw error;
      }
    };
    return Promise.all(drafts.map(store));
  }

  async #findEarlier({ tenant }: Sender, { fields, retryKey }: Draft): Promise<string | undefined> {
    return retryKey === null ? undefined : this.#services.intake.findEarlier(tenant, fields, retryKey);
  }

  #conclude({ tenant }: Sender, outcomes: readonly Outcome[]): readonly Stored[] {
    const stored = outcomes.filter((outcome): outcome is Stored => 'id' in outcome);
    const errors = outcomes.flatMap((outcome) => ('error' in outcome ? [outcome.error] : []));
    const passing = errors.find(({ retryAfterSeconds }) => retryAfterSeconds !== undefined);
    const first = passing ?? errors[0];
    if (!first || (!passing && stored.length > 0)) {
      for (const error of errors) this.#services.metrics.of(tenant).rejected(reasonOf(error));
      return stored;
    }
    // Whoever answers the error that is thrown here counts it.
    for (const error of errors.slice(1)) this.#services.metrics.of(tenant).rejected(reasonOf(error));
    if (stored.length === 0) throw first;
    throw new AppError(
      'unavailable',
      `${errors.length} of ${outcomes.length} were not stored (${first.message}): send all of them again, those that are stored are not stored twice`,
      { retryAfterSeconds: first.retryAfterSeconds ?? 1 },
    );
  }
}

function usualAnswer(outcomes: readonly Outcome[]): Answer {
  const items = outcomes.map((outcome) =>
    'id' in outcome ? { id: outcome.id } : { error: outcome.error.message },
  );
  return { status: 200, body: { ok: items.every((item) => 'id' in item), items } };
}

function senderOf({ principal }: FastifyRequest): Sender {
  if (principal.kind !== 'token') throw forbidden();
  return principal;
}
