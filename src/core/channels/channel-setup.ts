/** Validates the settings and secrets of channels. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ChannelCreate, ChannelPatch } from '#contract/channels/channel.ts';
import { type ChannelField, type ChannelKind, channelFields } from '#contract/channels/channel-fields.ts';
import { readLabels } from '#contract/history/labels.ts';
import { badField } from '../errors.ts';
import { findEmail } from '../people/sign-in-fields.ts';

type Texts = Readonly<Record<string, string>>;

const longestTopic = 500;

/** `whsec_` and 24 to 64 bytes of base64, the format of Standard Webhooks. */
const signingKeyForm = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
/** Nobody can guess one that is long enough. */
const incomingSecretForm = /^[!-~]{16,256}$/;
const newSigningKey = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/**
 * Validates the settings and secrets of a new channel: only those of its kind, and all required ones. Creates a signing key if
 * none is given.
 *
 * @throws AppError `bad-request` naming the field.
 */
export function newChannelFields({ kind, settings = {}, secrets = {} }: ChannelCreate): {
  readonly settings: Texts;
  readonly secrets: Texts;
} {
  const fields = channelFields[kind];
  const made = {
    settings: checked(fields, 'settings', settings),
    secrets: checked(fields, 'secrets', withSigningKey(fields, secrets)),
  };
  requireWhole(kind, made.settings, made.secrets);
  return made;
}

/**
 * As {@link newChannelFields}, for a change of a channel that has `before`. A new address requires its secrets again: otherwise a
 * person who may change the address could have them sent to a server of their own.
 */
export function changedChannelFields(
  kind: ChannelKind,
  { settings, secrets: given }: Pick<ChannelPatch, 'settings' | 'secrets'>,
  before: { readonly settings: Texts; readonly names: readonly string[]; readonly secrets: Texts },
): { readonly settings?: Texts; readonly secrets?: Texts } {
  const fields = channelFields[kind];
  // The password belongs to the server.
  const endsServer = kind === 'email' && settings && !settings.server?.trim();
  const secrets = endsServer ? { password: null, ...given } : given;
  const merged: Record<string, string> = { ...before.secrets };
  for (const [name, value] of Object.entries(secrets ?? {})) {
    if (value === null) delete merged[name];
    else merged[name] = value;
  }
  const changed = {
    ...(settings && { settings: checked(fields, 'settings', settings) }),
    ...(secrets && { secrets: checked(fields, 'secrets', withSigningKey(fields, merged)) }),
  };
  if (changed.settings)
    requireSecretsAgain(
      fields,
      { before: before.settings, after: changed.settings },
      (name) => before.names.includes(name) && secrets?.[name] === undefined,
    );
  requireWhole(kind, changed.settings ?? before.settings, changed.secrets ?? namesOnly(before.names));
  return changed;
}

/** The names of the given secrets that the channel does not have, or has another value of. */
export function differingSecrets(known: Texts, given: Texts): string[] {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return Object.entries(given)
    .filter(([name, value]) => {
      const stored = Object.hasOwn(known, name) ? known[name] : undefined;
      return stored === undefined || !timingSafeEqual(digest(stored), digest(value.trim()));
    })
    .map(([name]) => name);
}

const namesOnly = (names: readonly string[]): Texts => Object.fromEntries(names.map((name) => [name, '']));

function withSigningKey(fields: readonly ChannelField[], secrets: Texts): Texts {
  const made = fields.find(({ type, name }) => type === 'signing-key' && !secrets[name]);
  return made ? { ...secrets, [made.name]: newSigningKey() } : secrets;
}

const neverSent: readonly ChannelField['type'][] = ['signing-key', 'incoming-secret'];

/** With a new address, secrets must be entered again, unless they are never sent. */
function requireSecretsAgain(
  fields: readonly ChannelField[],
  { before, after }: { readonly before: Texts; readonly after: Texts },
  isKept: (name: string) => boolean,
): void {
  const address = fields.find(
    ({ name, type, isSecret }) =>
      !isSecret && (type === 'url' || type === 'smtp' || type === 'mqtt') && before[name] !== after[name],
  );
  const kept = fields.find(
    ({ name, type, isSecret }) => isSecret && !neverSent.includes(type) && isKept(name),
  );
  if (address && kept)
    throw badField(`secrets.${kept.name}`, `enter it again, because ${address.name} changes`);
}

/** Checks the dependencies between the fields of a kind. */
function requireWhole(kind: ChannelKind, settings: Texts, secrets: Texts): void {
  if (kind === 'email') {
    const { server, from, user } = settings;
    if (server !== undefined && from === undefined)
      throw badField('settings.from', 'is required with server');
    const own = from ?? user ?? secrets.password;
    if (server === undefined && own !== undefined)
      throw badField('settings.server', 'is required with from, user and password');
    if ((user === undefined) !== (secrets.password === undefined))
      throw badField(
        user === undefined ? 'settings.user' : 'secrets.password',
        'is required: user and password go together',
      );
  }
  if (kind === 'ntfy') {
    if (!/^[-_A-Za-z0-9]{1,64}$/.test(settings.topic ?? ''))
      throw badField('settings.topic', 'must be 1 to 64 letters, digits, - and _');
    if (settings.url !== undefined && new URL(settings.url).pathname !== '/')
      throw badField('settings.url', 'must be the server alone: the topic has its own field');
  }
  if (kind === 'telegram' && settings.polling === 'on' && secrets.webhookSecret !== undefined)
    throw badField(
      'settings.polling',
      'must be off with secrets.webhookSecret: Telegram either sends presses to an address, or lets Belfry fetch them',
    );
  if (kind === 'alertmanager') requireWholeAlertmanager(settings, secrets);
  if (kind === 'mqtt') requireWholeMqtt(settings, secrets);
}

/** `alarm` and `tenant` say which alarm it is. */
const ownLabels = ['alarm', 'tenant'];
const mostFixedLabels = 20;

function requireWholeAlertmanager({ url = '', user, labels }: Texts, { password, token }: Texts): void {
  const { pathname, search, hash } = new URL(url);
  if (search !== '' || hash !== '') throw badField('settings.url', 'must not contain ? or #');
  if (/\/api\/v[12](?:\/|$)/.test(pathname))
    throw badField('settings.url', 'must be the address without /api/v2, which is added');
  requireUser(user, password);
  if (user !== undefined && password === undefined)
    throw badField('secrets.password', 'is required with user');
  if (user !== undefined && token !== undefined)
    throw badField('secrets.token', 'must not be set with user and password');
  const fixed = labels === undefined ? [] : Object.entries(readLabels(labels) ?? { '': '' });
  const isRight = fixed.every(
    ([name, value]) => /^[A-Za-z_]\w*$/.test(name) && value !== '' && !ownLabels.includes(name),
  );
  if (!isRight || fixed.length > mostFixedLabels)
    throw badField(
      'settings.labels',
      `must be at most ${mostFixedLabels} labels, as in team=ops, site=plant 2: names have letters, digits and _, and not the names ${ownLabels.join(' and ')}`,
    );
}

function requireWholeMqtt(
  { url = '', topic = '', stateTopic, commands, user }: Texts,
  { password }: Texts,
): void {
  const { protocol, pathname, search, hash } = new URL(url);
  if (protocol.startsWith('mqtt') && !/^\/?$/.test(pathname))
    throw badField('settings.url', 'must be the broker alone: the topic has its own field');
  // A query would show a secret.
  if (search !== '' || hash !== '') throw badField('settings.url', 'must not contain ? or #');
  if (!isTopic(topic, /\{(?:level|host|key|tenant)\}/g))
    throw badField(
      'settings.topic',
      `must be a topic without + and #, of at most ${longestTopic} characters; {level}, {host}, {key} and {tenant} stand for these`,
    );
  if (commands === 'on' && stateTopic === undefined)
    throw badField('settings.stateTopic', 'is required with commands: they are sent to its /set');
  if (stateTopic === undefined) return requireUser(user, password);
  if (!stateTopic.includes('{alarm}') || !isTopic(stateTopic, /\{(?:alarm|tenant)\}/g))
    throw badField(
      'settings.stateTopic',
      `must be a topic with {alarm}, which stands for the key, and without + and #, of at most ${longestTopic} characters; {tenant} stands for the tenant`,
    );
  // For most keys {alarm} is {key}.
  if (stateTopic.replaceAll('{alarm}', '{key}') === topic)
    throw badField('settings.stateTopic', 'must be another topic than topic');
  requireUser(user, password);
}

function isTopic(topic: string, placeholders: RegExp): boolean {
  const literal = topic.replaceAll(placeholders, '');
  return !/[+#{}\p{C}]/u.test(literal) && !topic.startsWith('$') && topic.length <= longestTopic;
}

function requireUser(user: string | undefined, password: string | undefined): void {
  if (password !== undefined && user === undefined)
    throw badField('settings.user', 'is required with password');
}

/** `origin` does not exist for mqtt:. */
const withoutPath = ({ protocol, host }: URL) => `${protocol}//${host}`;

/** The settings for people who may not change them, without paths and topics, which often work as a secret. */
export function publicSettings(kind: ChannelKind, settings: Texts): Texts {
  const typeOf = (name: string) => channelFields[kind].find((field) => field.name === name)?.type;
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      if (name === 'topic' || name === 'stateTopic') return [name, '…'];
      const type = typeOf(name);
      return [name, type === 'url' || type === 'mqtt' ? withoutPath(new URL(value)) : value];
    }),
  );
}

function checked(fields: readonly ChannelField[], part: 'settings' | 'secrets', given: Texts): Texts {
  const own = fields.filter(({ isSecret = false }) => isSecret === (part === 'secrets'));
  const unknown = Object.keys(given).find((name) => !own.some((field) => field.name === name));
  if (unknown !== undefined) throw badField(`${part}.${unknown}`, unknownField(fields, part, unknown));
  const values: Record<string, string> = {};
  for (const field of own) {
    const { name, isRequired } = field;
    const value = given[name]?.trim() ?? '';
    if (value !== '') values[name] = checkedValue(`${part}.${name}`, field, value);
    else if (isRequired) throw badField(`${part}.${name}`, 'is required');
  }
  return values;
}

function unknownField(fields: readonly ChannelField[], part: 'settings' | 'secrets', name: string): string {
  const other = part === 'settings' ? 'secrets' : 'settings';
  if (fields.some((field) => field.name === name)) return `belongs in ${other}, as ${other}.${name}`;
  const own = fields.filter(({ isSecret = false }) => isSecret === (part === 'secrets'));
  return own.length === 0
    ? `this kind has no ${part}`
    : `this kind has ${own.map((field) => field.name).join(', ')}`;
}

/** Error messages never contain the value, because it may be a secret. */
function checkedValue(path: string, { type, choices = [] }: ChannelField, value: string): string {
  if (type === 'choice') {
    if (choices.includes(value)) return value;
    throw badField(path, `must be ${choices.join(' or ')}`);
  }
  if (type === 'signing-key') {
    if (signingKeyForm.test(value)) return value;
    throw badField(path, 'must be whsec_ and 24 to 64 bytes of base64; leave it out, and one is made');
  }
  if (type === 'email' || type === 'emails') {
    const addresses = value.split(',').map((each) => findEmail(each.trim()));
    if (addresses.every((each) => each !== undefined) && addresses.length <= (type === 'email' ? 1 : 50))
      return addresses.join(', ');
    throw badField(
      path,
      type === 'email' ? 'must be one email address' : 'must be email addresses, separated by commas',
    );
  }
  if (type === 'incoming-secret' && !incomingSecretForm.test(value))
    throw badField(path, 'must have 16 to 256 characters: ASCII without spaces');
  if (/[\r\n\0]/.test(value)) throw badField(path, 'must be one line');
  const protocols = urlForms[type];
  if (!protocols) return value;
  const url = URL.parse(value);
  if (!url || !protocols.test(url.protocol) || url.hostname === '')
    throw badField(path, `must be an absolute URL, as in ${urlExamples[type]}`);
  if (url.username !== '' || url.password !== '')
    throw badField(path, 'must not contain a user name or password; there are fields for them');
  return value;
}

const urlForms: Partial<Record<ChannelField['type'], RegExp>> = {
  url: /^https?:$/,
  smtp: /^smtps?:$/,
  mqtt: /^(?:mqtt|ws)s?:$/,
};
const urlExamples: Partial<Record<ChannelField['type'], string>> = {
  url: 'https://example.org/path',
  smtp: 'smtps://mail.example.org:465 or smtp://mail.example.org:587',
  mqtt: 'mqtts://broker.example.org:8883, mqtt://broker.example.org:1883 or wss://broker.example.org/mqtt',
};
