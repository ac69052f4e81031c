/** Publishes to an MQTT broker. A connection is kept open for a while, for the next deliveries. */
import { connectMqtt, type MqttConnection, MqttRefusal } from '#outbound/mqtt.ts';
import { inTime, type Outbound } from '#outbound/outbound.ts';
import {
  attemptMs,
  type ChannelSetup,
  clip,
  type OutgoingNotification,
  type SendResult,
  toJson,
} from '../message.ts';

/** The open connections. */
export interface Brokers {
  readonly idleMs: number;
  readonly kept: Map<string, Promise<KeptBroker>>;
}

export interface KeptBroker {
  readonly connection: MqttConnection;
  timer?: NodeJS.Timeout;
}

/** Reason codes after which a retry would be refused too: name of the topic, size, format. */
const finalRefusals = [144, 149, 153];
const nobodySubscribes = 16;
const answerBytes = 64 * 1024;
const placeholderChars = 100;

/** @throws Error when the broker cannot be reached. */
export async function sendMqtt(
  setup: ChannelSetup,
  notification: OutgoingNotification,
  { outbound, signal, brokers }: { outbound: Outbound; signal: AbortSignal; brokers: Brokers },
): Promise<SendResult> {
  const name = JSON.stringify([setup.settings.url, setup.settings.user, setup.secrets.password]);
  const isKept = brokers.kept.has(name);
  const attempt = async () => {
    const broker = await findBroker(name, setup, { outbound, signal, brokers });
    try {
      return await inTime({ timeoutMs: attemptMs, signal }, () =>
        publish(broker.connection, setup, notification),
      );
    } catch (error) {
      if (!(error instanceof MqttRefusal)) broker.connection.destroy(error as Error);
      throw error;
    }
  };
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof MqttRefusal)
      return { outcome: finalRefusals.includes(error.code) ? 'failed' : 'retry', answer: error.message };
    // The kept connection may have ended in the meantime.
    if (isKept && !signal.aborted) return attempt();
    throw error;
  }
}

async function publish(
  connection: MqttConnection,
  { settings }: ChannelSetup,
  notification: OutgoingNotification,
): Promise<SendResult> {
  const { maximumQoS, retainAvailable } = connection.accepted.properties ?? {};
  const retain = settings.retain === 'true';
  if (retain && retainAvailable === false)
    return { outcome: 'failed', answer: 'the broker keeps no messages: set retain to false' };
  const code = await connection.publish({
    topic: topicOf(settings.topic ?? '', notification),
    payload: JSON.stringify(toJson(notification)),
    qos: settings.qos === '0' || Number(maximumQoS ?? 1) === 0 ? 0 : 1,
    retain,
  });
  const also = code === nobodySubscribes ? '; nobody subscribes to the topic' : '';
  return { outcome: 'delivered', answer: `the broker has it${also}` };
}

/** The values come from senders, so they must not add topic levels or wildcards. */
function topicOf(template: string, { level, host, ip, key, tenant }: OutgoingNotification): string {
  const values: Readonly<Record<string, string | null>> = { level, host: host ?? ip, key, tenant };
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = (values[name] ?? '-').replaceAll(/[/+#$\p{C}]/gu, '_');
    return clip(value, placeholderChars);
  });
}

async function findBroker(
  name: string,
  { settings, secrets }: ChannelSetup,
  { outbound, signal, brokers }: { outbound: Outbound; signal: AbortSignal; brokers: Brokers },
): Promise<KeptBroker> {
  const { idleMs, kept } = brokers;
  let found = kept.get(name);
  // Another connection may have taken its place.
  const forget = () => {
    if (kept.get(name) === found) kept.delete(name);
  };
  if (!found) {
    found = connectMqtt(
      outbound,
      { url: settings.url ?? '', user: settings.user, password: secrets.password },
      { id: `belfry-${crypto.randomUUID().slice(0, 13)}`, packetBytes: answerBytes },
      { timeoutMs: attemptMs, signal },
    ).then((connection) => {
      const broker: KeptBroker = { connection };
      void connection.closed.then(() => {
        clearTimeout(broker.timer);
        forget();
      });
      return broker;
    });
    kept.set(name, found);
    found.catch(forget);
  }
  const broker = await found;
  clearTimeout(broker.timer);
  // Closes an idle connection. The time is shorter than the keep-alive interval.
  broker.timer = setTimeout(() => {
    forget();
    void broker.connection.close();
  }, idleMs).unref();
  return broker;
}

/** Called when the server stops. */
export async function closeBrokers({ kept }: Brokers): Promise<void> {
  const all = await Promise.allSettled(kept.values());
  kept.clear();
  for (const each of all) {
    if (each.status !== 'fulfilled') continue;
    clearTimeout(each.value.timer);
    each.value.connection.destroy(new Error('the server stops'));
  }
}
