/**
 * The limits of intake. A server has one `IntakeControl`, which POST /api/notify, the integrations and the listeners call, so its limits
 * hold for all of them together. They call `admit` before they read a body, `run` around storing, and `prepareErrorAnswer` or `count` when a
 * notification is refused.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { RejectionReason } from '#contract/history/search.ts';
import { type AppError, forbidden, unavailable } from '#core/errors.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { Principal } from '#core/people/access.ts';
import type { HeaderSink } from '../callers/rate-limits.ts';
import { type Answer, type AnsweredRequest, toAppError } from '../errors.ts';
import { requestIdOf } from '../requests.ts';
import type { Services } from '../services.ts';
import { NotifyLimits } from './notify-limits.ts';
import { IntakeGate, overloadMessage } from './overload.ts';

interface RefusedRequest extends AnsweredRequest {
  readonly principal: Principal;
}

export class IntakeControl {
  readonly #services: Pick<Services, 'metrics'>;
  readonly rates: NotifyLimits;
  readonly gate: IntakeGate;

  constructor(
    services: Services,
    rates = new NotifyLimits(services),
    gate = new IntakeGate(() => performance.now()),
  ) {
    this.#services = services;
    this.rates = rates;
    this.gate = gate;
  }

  /**
   * Before a body is read. Returns a promise only if the sender's tenant is not in memory.
   * @throws AppError `rate-limited` or `unavailable` when nothing could be stored.
   */
  admit(answer: HeaderSink, sender: Sender): Promise<void> | undefined {
    this.refuseOverload();
    const loading = this.rates.load(sender);
    if (loading) return loading.then(() => this.rates.refuseAnyLevel(answer, sender));
    this.rates.refuseAnyLevel(answer, sender);
    return undefined;
  }

  /** @throws AppError `unavailable` while more is sent than can be stored. */
  refuseOverload(): void {
    if (!this.gate.isShut) return;
    this.#services.metrics.overload.inc();
    throw unavailable(overloadMessage);
  }

  /** Stores nothing, and costs as much as an invalid notification. @throws AppError `rate-limited`. */
  readonly answerHead = async (request: FastifyRequest, reply: FastifyReply) => {
    const sender = senderOf(request);
    await this.admit(reply, sender);
    this.rates.take(reply, sender, undefined);
    return reply.type('application/json; charset=utf-8').send(null);
  };

  /** Counts as waiting for as long as `work` takes. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const underWay = this.gate.enter();
    try {
      return await work();
    } finally {
      this.gate.leave(underWay);
    }
  }

  /**
   * Counts the error, writes the rate limit headers, and returns the error to answer with. A body that is too large takes a token, as an
   * invalid notification does; if there is none, the returned error is `rate-limited`. If the limits cannot be read, the answer has no
   * such headers.
   */
  async prepareErrorAnswer(
    error: unknown,
    request: RefusedRequest,
    answer: Answer,
    isCounted = false,
  ): Promise<AppError> {
    const { raw, principal, routeOptions, log } = request;
    let known = toAppError(error, routeOptions?.bodyLimit);
    // The sender went away before its body was complete: nothing was refused.
    if (raw.destroyed && !raw.complete) return known;
    try {
      if (known.code === 'too-large') this.rates.take(answer, principal, undefined);
      else if (!answer.hasHeader('ratelimit')) await this.rates.writeHeaders(answer, principal);
    } catch (err) {
      const ofLimits = toAppError(err);
      if (ofLimits.code === 'rate-limited') known = ofLimits;
      else if (ofLimits.code === 'internal')
        log.error({ err, requestId: requestIdOf(raw) }, 'the rate limits of an answer could not be read');
    }
    if (!isCounted && known.code !== 'not-found') this.count(principal, known);
    return known;
  }

  /** Counts a notification that was refused. */
  count({ tenant }: Principal, { code }: AppError): void {
    this.#services.metrics.of(tenant).rejected(reasons[code] ?? 'internal');
  }
}

const reasons: Readonly<Record<string, RejectionReason>> = {
  'bad-request': 'invalid',
  forbidden: 'forbidden',
  'tenant.suspended': 'forbidden',
  conflict: 'conflict',
  'too-large': 'too-large',
  'unsupported-type': 'unsupported-type',
  'rate-limited': 'rate-limited',
  unavailable: 'unavailable',
};

/** @throws AppError `forbidden` for a caller without a token. */
export function senderOf({ principal }: { readonly principal: Principal }): Sender {
  if (principal.kind !== 'token') throw forbidden();
  return principal;
}
