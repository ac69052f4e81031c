import { createVerify, type KeyObject, X509Certificate } from 'node:crypto';
import { isPlainObject } from '#contract/plain-object.ts';
import { AppError, badRequest, forbidden } from '#core/errors.ts';
import { parseBoundedJson } from '#core/limits/bounded-json.ts';
import { createLruMap } from '#core/limits/lru-map.ts';
import { type Format, type Item, type Outside, type Payload, wordOf } from '../format.ts';
import {
  choiceAt,
  type JsonObject,
  joinTexts,
  labelsOfList,
  objectAt,
  requiredText,
  textOf,
} from '../payload.ts';

/**
 * Messages of Amazon SNS with their envelope, among them alarms of CloudWatch. The signature of each is verified, and a
 * subscription is confirmed. https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export const sns: Format = {
  verify,
  read({ body }) {
    const message = objectAt(body);
    if (message.Type === 'SubscriptionConfirmation') return [];
    return [message.Type === 'Notification' ? itemOf(message) : ended(message)];
  },
};

const types = ['Notification', 'SubscriptionConfirmation', 'UnsubscribeConfirmation'] as const;
const signedFields: Readonly<Record<(typeof types)[number], readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
};
const hashes: ReadonlyMap<unknown, string> = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
]);
const host = /^sns\.[a-z]{2}(?:-[a-z]+)+-\d{1,2}\.amazonaws\.com(?:\.cn)?$/;
const certificatePath = /^\/SimpleNotificationService-[0-9a-f]{32}\.pem$/;

/** AWS changes its certificates about once a year in each region. */
const keys = createLruMap<string, KeyObject>(50);
/** The most certificates fetched at once: a message can name any host, and lookups of missing hosts delay others. */
const mostFetches = 4;
let fetches = 0;

async function verify({ body }: Payload, outside: Outside): Promise<void> {
  const message = objectAt(body);
  const type = choiceAt(message.Type, '/Type', types);
  const hash = hashes.get(message.SignatureVersion);
  if (hash === undefined) throw badRequest('SignatureVersion must be 1 or 2');
  const signature = Buffer.from(requiredText(message.Signature, '/Signature'), 'base64');
  const key = await keyAt(awsUrl(message.SigningCertURL, 'SigningCertURL', certificatePath), outside);
  const verifier = createVerify(hash);
  for (const name of signedFields[type]) {
    const value = message[name];
    if (name === 'Subject' && (value === undefined || value === null)) continue;
    if (typeof value !== 'string') throw badRequest(`${name} must be a text`);
    verifier.update(`${name}\n${value}\n`);
  }
  if (!verifier.verify(key, signature)) throw forbidden('the signature of the message is not valid');
  if (type === 'SubscriptionConfirmation') await confirm(message, outside);
}

/** An https URL of SNS itself. @throws AppError `bad-request`. */
function awsUrl(value: unknown, name: string, path: RegExp): URL {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const isOwn = url?.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  if (url && isOwn && host.test(url.hostname) && path.test(url.pathname)) return url;
  throw badRequest(`${name} must be a URL of https://sns.REGION.amazonaws.com`);
}

async function keyAt(url: URL, { fetchText, now }: Outside): Promise<KeyObject> {
  const address = url.origin + url.pathname;
  const known = keys.get(address);
  if (known) return known;
  if (fetches >= mostFetches) throw unreachable('its certificate', undefined);
  let certificate: X509Certificate;
  fetches++;
  try {
    certificate = new X509Certificate(await fetchText(address));
  } catch (cause) {
    throw unreachable('its certificate', cause);
  } finally {
    fetches--;
  }
  if (Date.parse(certificate.validTo) < now || certificate.publicKey.asymmetricKeyType !== 'rsa')
    throw forbidden('the certificate of the signature is not valid');
  keys.set(address, certificate.publicKey);
  return certificate.publicKey;
}

async function confirm({ SubscribeURL, TopicArn }: JsonObject, { fetchText }: Outside): Promise<void> {
  const url = awsUrl(SubscribeURL, 'SubscribeURL', /^\/$/);
  const { searchParams } = url;
  if (searchParams.get('Action') !== 'ConfirmSubscription' || searchParams.get('TopicArn') !== TopicArn)
    throw badRequest('SubscribeURL must confirm the subscription to this topic');
  try {
    await fetchText(url.href);
  } catch (cause) {
    throw unreachable('the confirmation', cause);
  }
}

const unreachable = (what: string, cause: unknown) =>
  new AppError('unavailable', `AWS did not answer a request for ${what}`, { retryAfterSeconds: 10, cause });

function itemOf(message: JsonObject): Item {
  const text = requiredText(message.Message, '/Message');
  const alarm = alarmOf(text);
  const identity = textOf(message.MessageId);
  if (alarm) return { ...itemOfAlarm(alarm), identity };
  return {
    title: textOf(message.Subject) ?? topicOf(message),
    message: text,
    severity: 'message',
    level: 'info',
    identity,
  };
}

/** What CloudWatch wrote, or undefined for another text. */
function alarmOf(text: string): JsonObject | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const found = parseBoundedJson(text) as JsonObject;
    return textOf(found.AlarmName) && textOf(found.NewStateValue) ? found : undefined;
  } catch {
    return undefined;
  }
}

const levelOfState: ReadonlyMap<string, string> = new Map([
  ['alarm', 'error'],
  ['ok', 'success'],
  ['insufficient_data', 'warning'],
]);

function itemOfAlarm(alarm: JsonObject): Item {
  const severity = wordOf(textOf(alarm.NewStateValue) ?? '');
  const name = textOf(alarm.AlarmName) ?? '';
  const arn =
    textOf(alarm.AlarmArn) ?? `${textOf(alarm.AWSAccountId) ?? ''}:${textOf(alarm.Region) ?? ''}:${name}`;
  const [, region = ''] = /^arn:[a-z-]+:cloudwatch:([a-z0-9-]+):/.exec(arn) ?? [];
  return {
    title: severity === 'ok' ? `Resolved: ${name}` : name,
    message: joinTexts([textOf(alarm.AlarmDescription), textOf(alarm.NewStateReason)]),
    severity,
    level: levelOfState.get(severity) ?? 'error',
    key: `sns:${arn}`,
    labels: isPlainObject(alarm.Trigger) ? labelsOfList(alarm.Trigger.Dimensions, 'name', 'value') : [],
    isFiring: severity !== 'ok',
    url:
      region === ''
        ? undefined
        : `https://console.aws.amazon.com/cloudwatch/home?region=${region}#alarmsV2:alarm/${encodeURIComponent(name)}`,
  };
}

function ended(message: JsonObject): Item {
  return {
    title: `Subscription to ${topicOf(message)} ended`,
    message: textOf(message.Message),
    severity: 'unsubscribed',
    level: 'warning',
    identity: textOf(message.MessageId),
  };
}

/** arn:aws:sns:us-east-1:123456789012:my-topic */
const topicOf = ({ TopicArn }: JsonObject) => textOf(TopicArn)?.split(':').at(-1) ?? 'Amazon SNS';
