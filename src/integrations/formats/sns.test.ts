import { spawnSync } from 'node:child_process';
import { createPrivateKey, createSign, type KeyObject } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { labelsText } from '#contract/history/labels.ts';
import { payloadOf, read } from '#test/support/integration.ts';
import { sns } from './sns.ts';

let certificate: string;
let key: KeyObject;
beforeAll(() => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-sns-'));
  const [keyFile, certificateFile] = [join(folder, 'key'), join(folder, 'certificate')];
  const made = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=sns.amazonaws.com',
    '-days',
    '2',
  ];
  spawnSync('openssl', [...made, '-keyout', keyFile, '-out', certificateFile]);
  certificate = readFileSync(certificateFile, 'utf8');
  key = createPrivateKey(readFileSync(keyFile));
  rmSync(folder, { recursive: true });
});

const region = 'https://sns.eu-central-1.amazonaws.com';
const TopicArn = 'arn:aws:sns:eu-central-1:123456789012:alarms';
let certificates = 0;
const alarm = {
  AlarmName: 'CPU of shop/1',
  AlarmDescription: 'Scale it',
  AWSAccountId: '123456789012',
  NewStateValue: 'ALARM',
  NewStateReason: 'Threshold Crossed: 1 datapoint (97.0) was greater than the threshold (90.0).',
  StateChangeTime: '2026-11-22T20:00:00.236+0000',
  Region: 'EU (Frankfurt)',
  AlarmArn: 'arn:aws:cloudwatch:eu-central-1:123456789012:alarm:CPU of shop/1',
  OldStateValue: 'OK',
  Trigger: {
    MetricName: 'CPUUtilization',
    Namespace: 'AWS/EC2',
    Dimensions: [{ value: 'i-0123', name: 'InstanceId' }],
  },
};

type Message = Record<string, unknown>;

/** Signed as SNS does, with a certificate at an address that nobody has fetched. */
function signed(own: Message, version: '1' | '2' = '2'): Message {
  const message: Message = {
    Type: 'Notification',
    MessageId: '95df01b4-ee98-5cb9-9903-4c221d41eb5e',
    TopicArn,
    Message: JSON.stringify(alarm),
    Timestamp: '2026-11-22T20:00:01.000Z',
    SignatureVersion: version,
    SigningCertURL: `${region}/SimpleNotificationService-${String(++certificates).padStart(32, '0')}.pem`,
    ...own,
  };
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];
  const text = names.filter((name) => name in message).map((name) => `${name}\n${message[name]}\n`);
  const signer = createSign(version === '1' ? 'RSA-SHA1' : 'RSA-SHA256').update(text.join(''));
  return { ...message, Signature: signer.sign(key, 'base64') };
}

const subscription = (more: Message = {}) => ({
  Type: 'SubscriptionConfirmation',
  Token: 'abc',
  Message: 'You have chosen to subscribe to the topic.',
  SubscribeURL: `${region}/?Action=ConfirmSubscription&TopicArn=${TopicArn}&Token=abc`,
  ...more,
});

async function verify(message: unknown, now = Date.now()) {
  const fetchText = vi.fn(async (_url: string) => certificate);
  await sns.verify?.(payloadOf(message), { fetchText, now });
  return fetchText.mock.calls.map(([url]) => url);
}

describe('a message', () => {
  it.each(['1', '2'] as const)(
    'is verified with the certificate that it names, which is fetched once: version %s',
    async (version) => {
      const message = signed({}, version);
      expect(await verify(message)).toEqual([message.SigningCertURL]);
      expect(await verify(message)).toEqual([]);
      expect(await verify(signed({ Subject: 'S', SigningCertURL: message.SigningCertURL }, version))).toEqual(
        [],
      );
      const fields = {
        Message: 'x',
        MessageId: 'x',
        Timestamp: 'x',
        TopicArn: 'x',
        Subject: 'x',
        Signature: 'eA==',
      };
      for (const changed of Object.entries(fields))
        await expect(verify({ ...message, ...Object.fromEntries([changed]) })).rejects.toMatchObject({
          code: 'forbidden',
        });
    },
  );

  it.each([
    'http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-@.pem',
    'https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-@.pem',
    'https://a@sns.eu-central-1.amazonaws.com/SimpleNotificationService-@.pem',
    'https://sns.eu-central-1.amazonaws.com.example.org/SimpleNotificationService-@.pem',
    'https://example.org/sns.eu-central-1.amazonaws.com/SimpleNotificationService-@.pem',
    'https://sns.example.amazonaws.com/SimpleNotificationService-@.pem',
    'https://bucket.s3.eu-central-1.amazonaws.com/SimpleNotificationService-@.pem',
    'https://sns.eu-central-1.amazonaws.com/other.pem',
    'https://127.0.0.1/SimpleNotificationService-@.pem',
    'file:///etc/passwd',
    '',
  ])('whose certificate is not at SNS is refused, and nothing is fetched: %s', async (url) => {
    const fetchText = vi.fn(async () => certificate);
    const message = signed({ SigningCertURL: url.replace('@', '0'.repeat(32)) });
    await expect(sns.verify?.(payloadOf(message), { fetchText, now: 0 })).rejects.toMatchObject({
      code: 'bad-request',
    });
    expect(fetchText).not.toHaveBeenCalled();
  });

  it('is to be sent again while others wait for certificates', async () => {
    const answers: (() => void)[] = [];
    const fetchText = vi.fn(
      () => new Promise<string>((_, reject) => answers.push(() => reject(new Error('no such host')))),
    );
    const messages = Array.from({ length: 10 }, (_, i) =>
      signed({ SigningCertURL: `${region}/SimpleNotificationService-${String(i).repeat(32)}.pem` }),
    );
    const all = messages.map((message) => sns.verify?.(payloadOf(message), { fetchText, now: Date.now() }));
    const results = Promise.allSettled(all);
    expect(fetchText).toHaveBeenCalledTimes(4);
    for (const answer of answers) answer();
    for (const result of await results)
      expect(result).toMatchObject({ reason: { code: 'unavailable', retryAfterSeconds: 10 } });
    await expect(verify(signed({}))).resolves.toBeDefined();
  });

  it('with a certificate that is over, or none, is refused; one that cannot be fetched is to be sent again', async () => {
    const inAYear = Date.now() + 365 * 86_400_000;
    await expect(verify(signed({}), inAYear)).rejects.toMatchObject({ code: 'forbidden' });
    const fail = async () => Promise.reject(new Error('no route'));
    for (const fetchText of [fail, async () => 'no certificate'])
      await expect(sns.verify?.(payloadOf(signed({})), { fetchText, now: Date.now() })).rejects.toMatchObject(
        {
          code: 'unavailable',
        },
      );
  });

  it('of another kind is refused', async () => {
    for (const message of [
      {},
      [],
      'x',
      signed({ Type: 'x' }),
      { ...signed({}), SignatureVersion: '3' },
      signed({ Subject: 1 }),
    ])
      await expect(verify(message)).rejects.toMatchObject({ code: 'bad-request' });
  });
});

describe('a subscription', () => {
  it('is confirmed at SNS, and stores nothing', async () => {
    const message = signed(subscription());
    expect(await verify(message)).toEqual([message.SigningCertURL, message.SubscribeURL]);
    expect(read(sns, message)).toEqual([]);
  });

  it.each([
    ['at another host', 'https://example.org/?Action=ConfirmSubscription'],
    ['with another action', `${region}/?Action=Publish&TopicArn=${TopicArn}`],
    ['of another topic', `${region}/?Action=ConfirmSubscription&TopicArn=x`],
  ])('is not confirmed %s', async (_, SubscribeURL) => {
    const fetchText = vi.fn(async () => certificate);
    const message = payloadOf(signed(subscription({ SubscribeURL })));
    await expect(sns.verify?.(message, { fetchText, now: Date.now() })).rejects.toMatchObject({
      code: 'bad-request',
    });
    expect(fetchText).toHaveBeenCalledTimes(1);
  });

  it('that ends is shown, and not confirmed again', async () => {
    const message = signed(subscription({ Type: 'UnsubscribeConfirmation' }));
    expect(await verify(message)).toEqual([message.SigningCertURL]);
    expect(read(sns, message)).toMatchObject([{ title: 'Subscription to alarms ended', level: 'warning' }]);
  });
});

it('an alarm of CloudWatch replaces its state before, and any other message is shown as it is', () => {
  const key = 'sns:arn:aws:cloudwatch:eu-central-1:123456789012:alarm:CPU of shop/1';
  expect(read(sns, signed({}))).toMatchObject([
    {
      title: 'CPU of shop/1',
      message: `Scale it\n\n${alarm.NewStateReason}`,
      level: 'error',
      key,
      labels: labelsText({ InstanceId: 'i-0123' }),
      url: 'https://console.aws.amazon.com/cloudwatch/home?region=eu-central-1#alarmsV2:alarm/CPU%20of%20shop%2F1',
    },
  ]);
  const over = JSON.stringify({ ...alarm, NewStateValue: 'OK' });
  expect(read(sns, signed({ Message: over }))).toMatchObject([
    { title: 'Resolved: CPU of shop/1', level: 'success', key },
  ]);
  for (const Message of ['done', '{"a":1}', '{', '[1]', 'null'])
    expect(read(sns, signed({ Message, Subject: 'Backup' }))).toMatchObject([
      { title: 'Backup', message: Message, key: null },
    ]);
  expect(read(sns, signed({ Message: 'done' }))).toMatchObject([{ title: 'alarms', level: 'info' }]);
  // The signature does not cover the attributes of a message.
  const MessageAttributes = { env: { Type: 'String', Value: 'prod' } };
  expect(read(sns, { ...signed({ Message: 'done' }), MessageAttributes })).toMatchObject([{ labels: null }]);
});
