/** Commands about alarms that an MQTT broker sends: what is published to `/set` below the topic of an alarm's state. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { IPublishPacket } from 'mqtt';
import { backoffMs } from '#contract/backoff.ts';
import { standingStates } from '#contract/history/alarm-states.ts';
import { listAlarms } from '#core/alarms/standing.ts';
import type { AnswersContext } from '#core/channels/answers.ts';
import { personIn } from '#core/channels/person-names.ts';
import { parseBoundedJson } from '#core/limits/bounded-json.ts';
import { RateLimiter } from '#core/limits/rate-limits.ts';
import type { TenantId } from '#core/log/route.ts';
import { connectMqtt, type MqttConnection } from '#outbound/mqtt.ts';
import { inTime } from '#outbound/outbound.ts';
import { alarmName, keyPatternOf, nameOf } from '../kinds/mqtt.ts';
import { attemptMs } from '../message.ts';
import type { AnswerSource, SourceOptions } from './source.ts';

const commandKinds = ['acknowledge', 'unacknowledge', 'shelve', 'unshelve', 'clear'] as const;

export interface Command {
  readonly kind: (typeof commandKinds)[number];
  /** What its topic has in the place of the alarm. */
  readonly alarmName: string;
  /** As the sender says; undefined: it does not. */
  readonly by: string | undefined;
  readonly note: string | null;
}

const refusals = {
  unknown: `it is none of ${commandKinds.join(', ')}, or has more than 4 KiB`,
  tooMany: 'there are too many commands',
  'not-found': 'no alarm that the channel was sent has this name',
};
const payloadBytes = 4 * 1024;
/** The most bytes of a packet with MQTT 5. With MQTT 3.1.1 the broker does not know them, and a longer one must not end the connection. */
const packetBytes = 80 * 1024;
const packetBytesUnannounced = 16 * 1024 * 1024;
/** More are dropped: people do not press so often. */
const rate = { perSecond: 10, burst: 20 };
const mostWaiting = 20;
const retry = { baseMs: 1_000, capMs: 30_000 };
/** A connection that ends sooner counts as failed. */
const lastingMs = 60_000;
const [byChars, noteChars] = [100, 500];
/** A name of an alarm in a topic is shorter. A topic of a broker may have 65,535 bytes, and takes long to compare. */
const longestName = 120;
/** The most standing alarms whose names are compared with that of a command. */
const mostCompared = 100;

/** Stays connected until {@link close} is called: after a failure it tries again, with longer and longer pauses. */
export class MqttCommands implements AnswerSource {
  readonly #options: SourceOptions;
  readonly #topics: CommandTopics;
  readonly #closing = new AbortController();
  readonly #limiter = new RateLimiter<string>();
  readonly #ended: Promise<void>;
  #connection: MqttConnection | undefined;
  #waiting = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#topics = commandTopics(options.setup.settings.stateTopic ?? '', options.tenant);
    this.#ended = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the channel takes no more commands'));
    await this.#connection?.close();
    await this.#ended;
    await this.#last;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const began = performance.now();
      const error = await this.#connect().then(
        ({ closed }) => closed,
        (failure: Error) => failure,
      );
      if (signal.aborted) return;
      if (performance.now() - began >= lastingMs) failures = 0;
      this.#options.onProblem(error);
      await sleep(backoffMs(failures, retry), undefined, { ref: false, signal }).catch(() => undefined);
      failures += 1;
    }
  }

  async #connect(): Promise<MqttConnection> {
    const { setup, outbound } = this.#options;
    const { signal } = this.#closing;
    const connection = await connectMqtt(
      outbound,
      { url: setup.settings.url ?? '', user: setup.settings.user, password: setup.secrets.password },
      {
        ...{ id: `belfry-${crypto.randomUUID().slice(0, 13)}`, packetBytes, packetBytesUnannounced },
        onMessage: (packet, from) => this.#take(packet, from),
      },
      { timeoutMs: attemptMs, signal },
    );
    this.#connection = connection;
    try {
      signal.throwIfAborted();
      await inTime({ timeoutMs: attemptMs, signal }, () => connection.subscribe([this.#topics.filter]));
      this.#options.onWorking();
    } catch (error) {
      connection.destroy(error as Error);
      throw error;
    }
    return connection;
  }

  /** A retained message is an old one: the broker would repeat it with every connection. */
  #take({ topic, payload, qos, messageId, retain }: IPublishPacket, connection: MqttConnection): void {
    if (qos > 0 && messageId !== undefined) connection.acknowledge(messageId);
    const alarmName = this.#topics.alarmOf(topic);
    if (retain || alarmName === undefined || this.#closing.signal.aborted) return;
    const command = readCommand(Buffer.from(payload), alarmName);
    if (!command) return this.#options.onRefused(alarmName, refusals.unknown);
    if (this.#waiting >= mostWaiting || !this.#limiter.take('', rate, performance.now()).allowed)
      return this.#options.onRefused(alarmName, refusals.tooMany);
    this.#waiting += 1;
    this.#last = this.#last.then(async () => {
      if (!this.#closing.signal.aborted)
        await this.#do(command).catch((error: Error) => this.#options.onLost(error));
      this.#waiting -= 1;
    });
  }

  async #do({ kind, alarmName, by, note }: Command): Promise<void> {
    const { channel, context, onAnswer, onRefused } = this.#options;
    const alarm = await findAlarm(context, channel.tenant, alarmName);
    const outcome =
      alarm === undefined
        ? 'not-found'
        : await onAnswer({ kind, alarm, note, by: personIn(channel.name, by) });
    if (outcome === 'not-found') onRefused(alarmName, refusals[outcome]);
    else if (typeof outcome === 'object') onRefused(alarmName, outcome.why);
  }
}

/** The key or the id in the place of which a topic has `name`; undefined: no alarm that stands has this name. */
async function findAlarm(
  context: AnswersContext,
  tenant: TenantId,
  name: string,
): Promise<string | undefined> {
  if (alarmName(name) === name) return name;
  const { records } = await listAlarms(context, tenant, {
    query: { kind: 'key', patterns: [keyPatternOf(name)] },
    ...{ states: standingStates, limit: mostCompared },
  });
  return records.find(({ key }) => key !== null && alarmName(key) === name)?.key ?? undefined;
}

interface CommandTopics {
  /** With `+` for the levels that have the alarm. */
  readonly filter: string;
  /** The name of the alarm in a topic; undefined: it is another topic. */
  alarmOf(topic: string): string | undefined;
}

export function commandTopics(stateTopic: string, tenant: string): CommandTopics {
  const topic = `${stateTopic.replaceAll('{tenant}', () => nameOf(tenant))}/set`;
  const levels = topic.split('/').map((level) => (level.includes('{alarm}') ? '+' : level));
  const literals = topic.split('{alarm}').map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  const pattern = literals.reduce(
    (before, part, i) => `${before}${i === 1 ? `([^/]{1,${longestName}})` : '\\1'}${part}`,
  );
  const whole = new RegExp(`^${pattern}$`, 'u');
  return { filter: levels.join('/'), alarmOf: (given) => whole.exec(given)?.[1] };
}

/** A word, or JSON as in `{"action": "acknowledge", "by": "Ann", "note": "on my way"}`; undefined for anything else. */
export function readCommand(payload: Buffer, alarmName: string): Command | undefined {
  if (payload.length > payloadBytes) return undefined;
  const text = payload.toString('utf8').trim();
  const given = text.startsWith('{') ? findObject(text) : { action: text };
  const kind = commandKinds.find((each) => each === given?.action);
  if (!kind) return undefined;
  const [by, note] = [lineOf(given?.by, byChars), lineOf(given?.note, noteChars)];
  return { kind, alarmName, by: by || undefined, note: note || null };
}

function findObject(text: string): { action?: unknown; by?: unknown; note?: unknown } | undefined {
  try {
    return parseBoundedJson(text) as object;
  } catch {
    return undefined;
  }
}

/** In one line; empty for what is no text. */
const lineOf = (value: unknown, most: number): string =>
  typeof value === 'string'
    ? value
        .replaceAll(/\p{C}+/gu, ' ')
        .trim()
        .slice(0, most)
        .toWellFormed()
    : '';
