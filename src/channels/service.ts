/** The service that routes and the wiring use for channels. */
import { uuidv7 } from 'uuidv7';
import { answerSecretOf } from '#contract/channels/channel-fields.ts';
import { noTexts, optionalTextsOf } from '#contract/history/fields.ts';
import { buttonShelfMs } from '#contract/panels/buttons.ts';
import { escalationReason, withReason } from '#core/alarms/reasons.ts';
import type { Answered, AnsweringSystems, SystemAnswer } from '#core/channels/answers.ts';
import {
  type ChannelRecord,
  type ChannelService,
  type DeliveryQueue,
  isResolve,
} from '#core/channels/channels.ts';
import type { ReplyAddresses } from '#core/channels/reply-addresses.ts';
import { eventOf } from '#core/channels/updates.ts';
import { AppError } from '#core/errors.ts';
import { ownSenders } from '#core/intake/own-sender.ts';
import { belfryAsActor, type History, type HistoryRecord } from '#core/log/log.ts';
import type { Route, TenantId } from '#core/log/route.ts';
import type { Tracer } from '#core/observability/tracing.ts';
import { createSealer } from '#core/people/secrets.ts';
import { instructionsText } from '#core/routing/instructions.ts';
import { pageOf } from '#core/streams/phone-message.ts';
import type { Directory } from '#core/tenants/directory.ts';
import type { Tenancy } from '#core/tenants/tenancy.ts';
import { createOutbounds } from '#outbound/outbound.ts';
import { messageIn, outcomeRequest, readSystemAnswer, replyTo } from './answers/signed.ts';
import { Dispatcher, type Happened } from './dispatcher.ts';
import { MailBudget, type MailServer } from './kinds/email.ts';
import type { Brokers } from './kinds/mqtt.ts';
import { createPushService, type PushTest } from './kinds/push.ts';
import {
  type AlarmState,
  attemptMs,
  type ChannelSetup,
  type OutgoingNotification,
  type OutgoingUpdate,
  type SendResult,
} from './message.ts';

interface ChannelServiceOptions {
  readonly queue: DeliveryQueue;
  readonly directory: Pick<Directory, 'channels' | 'pushDevices' | 'tenants'>;
  readonly history: Pick<History, 'find' | 'readAfter'>;
  readonly tenancy: Pick<Tenancy, 'get'>;
  /** The server's key. */
  readonly key: string;
  /** Networks that channels may reach although they are not public. */
  readonly allow: readonly string[];
  /** The installation's own mail server. */
  readonly mail: (MailServer & { readonly perHour: number | 'off' }) | undefined;
  /** undefined: this installation takes no replies to mails. */
  readonly replies?: ReplyAddresses | undefined;
  /** The URL under which people reach this server. */
  readonly baseUrl?: string | undefined;
  readonly now: () => number;
  readonly onFinished: (tenant: TenantId, state: 'delivered' | 'failed', count: number) => void;
  readonly onError: (error: unknown) => void;
  readonly tracer?: Tracer | undefined;
}

const stopMs = 2_000;
/** The most escalations that are followed to the first notification of an alarm. */
const mostFollowed = 100;
/** How long a connection to a broker is kept after a delivery. */
const brokerIdleMs = 30_000;
type Secrets = Readonly<Record<string, string>>;

export function createChannelService(options: ChannelServiceOptions): ChannelService & AnsweringSystems {
  const { directory, key, allow, mail, now } = options;
  const sealer = createSealer(key, 'channel secrets');
  const outboundOf = createOutbounds(allow);
  const budget = mail === undefined || mail.perHour === 'off' ? undefined : new MailBudget(mail.perHour);
  const push = createPushService({ devices: directory.pushDevices, key, now, contact: contactOf(options) });
  const brokers: Brokers = { idleMs: brokerIdleMs, kept: new Map() };
  /** Part of the encryption, so that a change in the database cannot move secrets to another channel. */
  const ownerOf = (tenant: TenantId, id: string) => `${tenant} ${id}`;

  const open = ({ tenant, id, sealed }: Pick<ChannelRecord, 'tenant' | 'id' | 'sealed'>): Secrets => {
    if (sealed === null) return {};
    try {
      return JSON.parse(sealer.open(sealed, ownerOf(tenant, id)).toString('utf8')) as Secrets;
    } catch (error) {
      const message =
        "the channel's secrets were encrypted with another key: put the key file back, or enter them again";
      throw new AppError('conflict', message, { cause: error });
    }
  };

  const tryOpen = (channel: ChannelRecord): Secrets | undefined => {
    try {
      return open(channel);
    } catch {
      return undefined;
    }
  };

  const sendOne = async (
    channel: ChannelRecord,
    notification: Delivered,
    signal: AbortSignal,
    { update, pushTest }: { readonly update?: ChannelUpdate; readonly pushTest?: PushTest } = {},
  ): Promise<SendResult> => {
    let setup: ChannelSetup;
    try {
      const id = notification.route && channel.id;
      setup = { id, settings: channel.settings, secrets: open(channel) };
    } catch (error) {
      return { outcome: 'retry', answer: (error as Error).message };
    }
    const isOwnMail = channel.kind === 'email' && channel.settings.server === undefined;
    const waitMs = isOwnMail ? (budget?.take(channel, recipientsOf(setup), now()) ?? 0) : 0;
    if (waitMs > 0)
      return {
        ...{ outcome: 'retry', retryAfterMs: waitMs },
        answer: `the mail server of this installation takes ${mail?.perHour} mails an hour of a tenant: this one waits`,
      };
    const { name: tenant, timeZone } = await directory.tenants.get(channel.tenant);
    // Loaded with the first delivery.
    const { send } = await import('./send.ts');
    const span = options.tracer?.start('deliver', { 'belfry.channel.kind': channel.kind });
    const message = { notification: notification.id, id: update?.id ?? notification.id };
    const result = await send(
      channel.kind,
      setup,
      {
        ...outgoing(notification),
        tenant,
        ...(options.baseUrl !== undefined &&
          notification.route && { page: pageOf(options.baseUrl, tenant, notification) }),
        alarm: notification.key ?? (await firstOf(channel.tenant, notification)),
        instructions: await instructionsFor(channel.tenant, notification),
      },
      {
        ...{ outbound: outboundOf(channel.tenant), mail, brokers, now, signal },
        ...{ update: update && { ...update, timeZone }, replyTo: replyToOf(channel, notification) },
        audience: channel.kind === 'push' ? await push.audienceOf(channel, message, pushTest) : undefined,
      },
    );
    span?.end(result.outcome === 'delivered' ? undefined : new Error());
    return result;
  };

  /** A test is about no alarm. */
  const replyToOf = ({ tenant, id: channel, kind, settings }: ChannelRecord, { id, route }: Delivered) =>
    kind === 'email' && settings.replies === 'on' && route
      ? options.replies?.addressOf({ tenant, channel, notification: id })
      : undefined;

  /** The notification with which the alarm of one without a key began. */
  const firstOf = async (tenant: TenantId, { id, route }: Delivered) => {
    let first = id;
    let before = route?.escalates;
    for (let i = 0; before !== undefined && i < mostFollowed; i += 1) {
      first = before;
      before = (await options.history.find(tenant, before))?.route.escalates;
    }
    return first;
  };

  const instructionsFor = async (tenant: TenantId, { route }: Delivered) => {
    if (!route) return null;
    const { router } = await options.tenancy.get(tenant);
    return instructionsText({ route }, router) ?? null;
  };

  const stopping = new AbortController();
  const showAnswer = async (channel: ChannelRecord, { answer, message }: SystemAnswer, outcome: Answered) => {
    const { tenant, kind } = channel;
    const reference = messageIn(kind, { message }, open(channel));
    const event = answer && eventOf(answer);
    if (!event || reference === undefined) return;
    const { signal } = stopping;
    if (outcome !== 'done') {
      const request = outcomeRequest(kind, reference, outcome);
      if (request) await outboundOf(tenant).request(request, { timeoutMs: attemptMs, signal });
      return;
    }
    const record = await options.history.find(tenant, answer.alarm);
    if (!record) return;
    const { by, note, at = now() } = answer;
    const until = answer.kind === 'shelve' ? (answer.until ?? at + buttonShelfMs) : null;
    const update = { id: `${record.id}-${at}`, event, at, by, note, until, reference };
    await sendOne(channel, { ...record, state: statesAfter[event] }, signal, { update });
  };

  const dispatcher = new Dispatcher({
    ...{ ...options, channels: directory.channels },
    send: (channel, record, signal, happened) =>
      sendOne(
        channel,
        { ...record, state: stateOf(record, happened) },
        signal,
        happened && { update: updateOf(record.id, happened) },
      ),
  });

  return {
    hasMailServer: mail?.from !== undefined,
    open,
    wake: (tenant) => dispatcher.wake(tenant),
    trim: (trustedNow, signal) =>
      options.queue.trim({
        ...{ now: now(), trustedNow, signal },
        onFailed: (tenant, count) => options.onFinished(tenant, 'failed', count),
      }),
    async stop() {
      stopping.abort();
      await dispatcher.stop(stopMs);
      if (brokers.kept.size > 0) await (await import('./kinds/mqtt.ts')).closeBrokers(brokers);
    },

    seal(tenant, id, secrets) {
      if (Object.keys(secrets).length === 0) return null;
      return sealer.seal(Buffer.from(JSON.stringify(secrets)), ownerOf(tenant, id));
    },

    push,

    readAnswer(channel, sent) {
      const { kind, settings, secrets } = channel;
      const name = answerSecretOf(kind);
      if (name === undefined || !secrets.includes(name)) return undefined;
      const opened = tryOpen(channel);
      return opened && readSystemAnswer(kind, opened, { ...sent, settings, now: now() });
    },

    replyTo,
    showAnswer: (channel, answered, outcome) => showAnswer(channel, answered, outcome).catch(options.onError),

    async test(channel, by, device) {
      const began = performance.now();
      const test = testNotification(by, now());
      const { outcome, answer } = await sendOne(channel, test, AbortSignal.any([]), { pushTest: { device } });
      return { ok: outcome === 'delivered', answer, tookMs: Math.round(performance.now() - began) };
    },
  };
}

/** The contact for push services. Apple's requires one. */
function contactOf({ baseUrl, mail }: ChannelServiceOptions): string | undefined {
  if (baseUrl?.startsWith('https:')) return baseUrl;
  return mail?.from === undefined ? undefined : `mailto:${mail.from}`;
}

const recipientsOf = ({ settings }: ChannelSetup): number => (settings.to ?? '').split(',').length;

/** What happened to the alarm, without what is read of the tenant when it is sent. */
type ChannelUpdate = Omit<OutgoingUpdate, 'timeZone'>;

/** What is known of a notification before it is sent; a test has no route. */
type Known = Omit<OutgoingNotification, 'tenant' | 'instructions' | 'alarm'>;
type Delivered = Known & { readonly route?: Route };

/** The fields of a notification that leave the server. An escalation says first why it was sent. */
function outgoing({ route, ...notification }: Delivered): Known {
  const { id, receivedAt, title, level, rank, ttl, state } = notification;
  const message = withReason(route && escalationReason({ route, receivedAt }), notification.message);
  return { id, receivedAt, title, message, level, rank, ...optionalTextsOf(notification), ttl, state };
}

const statesAfter: Readonly<Record<Happened['event'], AlarmState>> = {
  acknowledged: 'acknowledged',
  unacknowledged: 'open',
  shelved: 'shelved',
  unshelved: 'open',
  ended: 'ended',
};

/** After the event; or, of a notification, now: it may have been sent late. */
function stateOf(record: HistoryRecord, happened: Happened | undefined): AlarmState {
  if (happened) return statesAfter[happened.event];
  // What is on no panel is no alarm.
  const isAlarm = record.alarm !== null || record.cleared?.reason === 'replaced';
  if (isResolve(record) || !isAlarm) return 'ended';
  if (record.alarm?.shelved) return 'shelved';
  return record.acknowledged ? 'acknowledged' : 'open';
}

function updateOf(id: string, { event, entry, reference }: Happened): ChannelUpdate {
  const note = 'note' in entry ? (entry.note ?? null) : null;
  const until = 'until' in entry ? (entry.until ?? null) : null;
  const isItself = entry.by === belfryAsActor || ownSenders.some(({ id: sender }) => sender === entry.by);
  const by = isItself ? null : entry.by;
  return { id: `${id}-${entry.position}`, event, at: entry.at, by, note, until, reference };
}

function testNotification(by: string, receivedAt: number): Known {
  return {
    ...{ id: uuidv7(), receivedAt, title: 'Test of a channel' },
    message: `This channel works. ${by} sent this test.`,
    ...{ ...noTexts, level: 'info', rank: 20, ttl: 0, state: 'open' },
  };
}
