/** What each kind of channel is set up with, without schemas: pages load this file. */
import { buttonSettings } from '../panels/buttons.ts';

export const channelKinds = [
  'webhook',
  'email',
  'ntfy',
  'gotify',
  'slack',
  'teams',
  'discord',
  'telegram',
  'pagerduty',
  'alertmanager',
  'apprise',
  'push',
  'mqtt',
] as const;
export type ChannelKind = (typeof channelKinds)[number];

/** The events of an alarm that channels can get after its notifications. */
export const alarmEvents = ['acknowledged', 'unacknowledged', 'shelved', 'unshelved', 'ended'] as const;
export type AlarmEvent = (typeof alarmEvents)[number];

/** One field of a channel's settings, or one of its secrets. All are texts. */
export interface ChannelField {
  readonly name: string;
  /** `url` is http or https; `emails` are addresses with commas in between; an `incoming-secret` is never sent: it verifies what comes. */
  readonly type:
    | 'text'
    | 'url'
    | 'email'
    | 'emails'
    | 'smtp'
    | 'mqtt'
    | 'signing-key'
    | 'incoming-secret'
    | 'choice';
  readonly isRequired?: true;
  /** Sealed, and never read back. */
  readonly isSecret?: true;
  /** Of a `choice`: the first holds when it is left out. */
  readonly choices?: readonly string[];
  /** What holds when it is left out, or how it may look. */
  readonly example?: string;
}

const url = (over: Partial<ChannelField> = {}): ChannelField => ({ name: 'url', type: 'url', ...over });
const text = (name: string, over: Partial<ChannelField> = {}): ChannelField => ({
  name,
  type: 'text',
  ...over,
});
const required = { isRequired: true } as const;
const secret = { isSecret: true } as const;
const secretUrl = (example: string) => url({ ...required, ...secret, example });

/** With it, what people do in the other system about alarms holds here. */
const incomingSecret = (name: string): ChannelField => ({ name, type: 'incoming-secret', ...secret });

/**
 * Which events of its alarms a channel gets. By default all where Belfry changes a message that is there, and none where each would
 * be one more message, or count as one.
 */
const updates = (usual: 'all' | 'none'): ChannelField => ({
  ...{ name: 'updates', type: 'choice' },
  choices: usual === 'all' ? ['all', 'ends', 'none'] : ['none', 'ends', 'all'],
});

export const channelFields: Readonly<Record<ChannelKind, readonly ChannelField[]>> = {
  webhook: [
    url({ ...required, example: 'https://example.org/hooks/belfry' }),
    { name: 'signingKey', type: 'signing-key', ...secret, example: 'whsec_…' },
    text('authorization', { ...secret, example: 'Bearer …' }),
    updates('none'),
  ],
  email: [
    { name: 'to', type: 'emails', ...required, example: 'ops@example.org, night@example.org' },
    { name: 'from', type: 'email', example: 'belfry@example.org' },
    { name: 'server', type: 'smtp', example: 'smtps://mail.example.org:465' },
    text('user'),
    text('password', secret),
    { name: 'replies', type: 'choice', choices: ['off', 'on'] },
    updates('none'),
  ],
  ntfy: [
    url({ example: 'https://ntfy.sh' }),
    text('topic', { ...required, example: 'alerts' }),
    text('token', { ...secret, example: 'tk_…' }),
    updates('none'),
  ],
  gotify: [
    url({ ...required, example: 'https://gotify.example.org' }),
    text('token', { ...required, ...secret }),
    updates('none'),
  ],
  slack: [secretUrl('https://hooks.slack.com/services/…'), incomingSecret('signingSecret'), updates('none')],
  teams: [secretUrl('https://….logic.azure.com/workflows/…'), updates('none')],
  discord: [secretUrl('https://discord.com/api/webhooks/…'), updates('all')],
  telegram: [
    text('chat', { ...required, example: '-1001234567890' }),
    text('token', { ...required, ...secret, example: '123456:ABC…' }),
    url({ example: 'https://api.telegram.org' }),
    { name: 'polling', type: 'choice', choices: ['off', 'on'] },
    incomingSecret('webhookSecret'),
    updates('none'),
  ],
  pagerduty: [
    text('routingKey', { ...required, ...secret }),
    url({ example: 'https://events.pagerduty.com' }),
    incomingSecret('webhookSecret'),
    updates('all'),
  ],
  alertmanager: [
    url({ ...required, example: 'http://alertmanager.example.org:9093' }),
    text('user'),
    text('password', secret),
    text('token', secret),
    text('labels', { example: 'team=ops, site=plant 2' }),
    { name: 'silences', type: 'choice', choices: ['on', 'off'] },
    updates('all'),
  ],
  apprise: [
    url({ ...required, example: 'https://apprise.example.org/notify/ops' }),
    text('tag'),
    text('urls', { ...secret, example: 'mailtos://…, tgram://…' }),
    updates('none'),
  ],
  // Its devices are added by themselves.
  push: [{ name: 'actions', type: 'choice', choices: buttonSettings }, updates('all')],
  mqtt: [
    { name: 'url', type: 'mqtt', ...required, example: 'mqtts://broker.example.org:8883' },
    text('topic', { ...required, example: 'alerts/{level}/{host}' }),
    { name: 'qos', type: 'choice', choices: ['1', '0'] },
    { name: 'retain', type: 'choice', choices: ['false', 'true'] },
    text('stateTopic', { example: 'alarms/{alarm}' }),
    { name: 'commands', type: 'choice', choices: ['off', 'on'] },
    text('user'),
    text('password', secret),
  ],
};

/** Of kinds that take answers: the secret that verifies them. */
export const answerSecretOf = (kind: ChannelKind): string | undefined =>
  channelFields[kind].find(({ type }) => type === 'incoming-secret')?.name;

/** Where the other system sends them. */
export const answersPath = (tenant: string, channel: string): string => `/api/answers/${tenant}/${channel}`;
