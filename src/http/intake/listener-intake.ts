/** Intake for listeners of other protocols, with the same tokens, limits and counters as over HTTP. */
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { Authenticator } from '../callers/auth.ts';
import type { HeaderSink } from '../callers/rate-headers.ts';
import { toAppError } from '../errors.ts';
import type { Services } from '../services.ts';
import type { IntakeControl } from './integration-handler.ts';
import { reasonOf } from './notify-handler.ts';
import { refuseOverload } from './overload.ts';

/** Discards rate limit headers, which other protocols do not have. */
const ignoredHeaders: HeaderSink = { header: () => undefined };

export class ListenerIntake {
  readonly #services: Services;
  readonly #authenticator: Authenticator;
  readonly #control: Pick<IntakeControl, 'rates' | 'gate'>;

  constructor(
    services: Services,
    authenticator: Authenticator,
    control: Pick<IntakeControl, 'rates' | 'gate'>,
  ) {
    this.#services = services;
    this.#authenticator = authenticator;
    this.#control = control;
  }

  /** The sender of a token with the scope notify. @throws AppError `rate-limited` after too many failures. */
  findSender(token: string, source: string, mode?: 'failures count'): Promise<Sender | undefined> {
    return this.#authenticator.findByToken(token, source, mode);
  }

  /** Before anything is read or parsed. @throws AppError `rate-limited` or `unavailable` when nothing could be stored. */
  async admit(sender: Sender): Promise<void> {
    const { rates, gate } = this.#control;
    refuseOverload(gate, this.#services.metrics);
    await rates.load(sender);
    rates.refuseAnyLevel(ignoredHeaders, sender);
  }

  /** Resolves once it is durable. @throws AppError. */
  async accept(
    sender: Sender,
    source: string,
    fields: CheckedFields,
    retryKey: RetryKey | null,
  ): Promise<string> {
    const { intake, metrics } = this.#services;
    const { rates, gate } = this.#control;
    refuseOverload(gate, metrics);
    await rates.load(sender);
    const underWay = gate.enter();
    try {
      rates.take(ignoredHeaders, sender, fields.level);
      return (await intake.accept(sender, source, fields, retryKey)).id;
    } catch (error) {
      const known = toAppError(error);
      metrics.of(sender.tenant).rejected(reasonOf(known));
      throw error;
    } finally {
      gate.leave(underWay);
    }
  }

  count(listener: string, result: string): void {
    this.#services.metrics.listened.inc({ listener, result });
  }
}
