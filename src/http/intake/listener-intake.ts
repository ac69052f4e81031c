/** Intake for listeners of other protocols, with the same tokens, limits and counters as over HTTP. */
import { type Answered, type ChannelAnswer, takeAnswer } from '#core/channels/answers.ts';
import { personIn } from '#core/channels/person-names.ts';
import { isRepliedTo, type ReadAddress } from '#core/channels/reply-addresses.ts';
import type { RetryKey } from '#core/intake/idempotency.ts';
import type { CheckedFields } from '#core/intake/notification.ts';
import type { Sender } from '#core/intake/own-sender.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import type { Authenticator } from '../callers/auth.ts';
import { type HeaderSink, type RateLimit, takeFrom } from '../callers/rate-limits.ts';
import { toAppError } from '../errors.ts';
import type { Services } from '../services.ts';
import type { IntakeControl } from './intake-control.ts';

/** Discards rate limit headers, which other protocols do not have. */
const ignoredHeaders: HeaderSink = { header: () => undefined };

/** Replies to the mails of one alarm on one channel: a person writes few, and each may be one more mail to others. */
const replyRate: Rate = { perSecond: 1 / 30, burst: 10 };

export class ListenerIntake {
  readonly #services: Services;
  readonly #replyLimit: RateLimit;
  readonly #authenticator: Authenticator;
  readonly #control: IntakeControl;

  constructor(services: Services, authenticator: Authenticator, control: IntakeControl) {
    this.#services = services;
    this.#replyLimit = { name: 'replies', rate: replyRate, limiter: services.limits.approximate('replies') };
    this.#authenticator = authenticator;
    this.#control = control;
  }

  /** The sender of a token with the scope notify. @throws AppError `rate-limited` after too many failures. */
  findSender(token: string, source: string, mode?: 'failures count'): Promise<Sender | undefined> {
    return this.#authenticator.findByToken(token, source, mode);
  }

  /** Before anything is read or parsed. @throws AppError `rate-limited` or `unavailable` when nothing could be stored. */
  async admit(sender: Sender): Promise<void> {
    await this.#control.admit(ignoredHeaders, sender);
  }

  /** Resolves once it is durable. @throws AppError. */
  async accept(
    sender: Sender,
    source: string,
    fields: CheckedFields,
    retryKey: RetryKey | null,
  ): Promise<string> {
    const { rates } = this.#control;
    this.#control.refuseOverload();
    await rates.load(sender);
    try {
      return await this.#control.run(async () => {
        rates.take(ignoredHeaders, sender, fields.level);
        return (await this.#services.intake.accept(sender, source, fields, retryKey)).id;
      });
    } catch (error) {
      this.#control.count(sender, toAppError(error));
      throw error;
    }
  }

  readReplyAddress(address: string): ReadAddress | undefined {
    return this.#services.replies?.read(address);
  }

  /** Does what a reply to a mail says, if the channel still takes replies. @throws AppError. */
  async takeReply(
    to: ReadAddress,
    { from, kind, note }: Pick<ChannelAnswer, 'kind' | 'note'> & { readonly from: string },
  ): Promise<Answered> {
    this.#control.refuseOverload();
    const { tenant, notification, channelHash } = to;
    await takeFrom(this.#replyLimit, `${tenant} ${notification} ${channelHash}`, this.#services.now());
    const channels = await this.#services.directory.channels.list(tenant);
    const channel = channels.find(({ id }) => isRepliedTo(to, id));
    if (channel?.kind !== 'email' || channel.settings.replies !== 'on') return 'not-found';
    const by = personIn('mail', from);
    return takeAnswer(this.#services, channel, { kind, note, by, alarm: notification });
  }

  count(listener: string, result: string): void {
    this.#services.metrics.listened.inc({ listener, result });
  }
}
