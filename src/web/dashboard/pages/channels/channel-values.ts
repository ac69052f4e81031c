/** The values of a channel's form. */
import type { TFunction } from 'i18next';
import { ApiError } from '#client/call.ts';
import type { Channel } from '#contract/channels/channel.ts';
import { type ChannelKind, channelFields } from '#contract/channels/channel-fields.ts';
import type { RefusedField } from '#web/dashboard/fields/form-values.ts';

export interface ChannelValues {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly enabled: boolean;
  /** Settings and secrets; an empty secret keeps what is set. */
  readonly fields: Readonly<Record<string, string>>;
  /** The secrets to be removed. */
  readonly removed: readonly string[];
  /** When it was last saved: then the form begins anew, without the secrets that were typed. */
  readonly savedAt: string;
}

export function valuesOf(channel: Channel | undefined): ChannelValues {
  const names = Object.values(channelFields).flatMap((fields) => fields.map(({ name }) => name));
  const empty = Object.fromEntries(names.map((name) => [name, '']));
  const none = { fields: empty, removed: [], savedAt: '' };
  if (!channel) return { name: '', kind: 'webhook', enabled: true, ...none };
  const { name, kind, enabled, settings, updatedAt: savedAt } = channel;
  return { ...none, name, kind, enabled, fields: { ...empty, ...settings }, savedAt };
}

/** By the path of the field. */
export function problemsOf(
  { name, kind, fields }: ChannelValues,
  channel: Channel | undefined,
  needed: string,
) {
  const missing = channelFields[kind].filter(
    (field) =>
      field.isRequired &&
      !fields[field.name]?.trim() &&
      !(field.isSecret && channel?.secrets.includes(field.name)),
  );
  return {
    ...Object.fromEntries(missing.map((field) => [`fields.${field.name}`, needed])),
    ...(name.trim() === '' && { name: needed }),
  };
}

/** The field that the server refused; undefined for an error that is not about one. */
export function refusedField(
  error: Error,
  { kind, fields }: ChannelValues,
  channel: Channel | undefined,
  t: TFunction<'channels'>,
): RefusedField | undefined {
  const pointer = error instanceof ApiError ? error.place.pointer : undefined;
  const [, part, name = ''] = /^\/(settings|secrets)\/(\w+)$/.exec(pointer ?? '') ?? [];
  if (part === undefined) return undefined;
  const path = `fields.${name}`;
  // An empty secret keeps its value, unless the address changes.
  if (!fields[name]?.trim())
    return { path, text: t(channel?.secrets.includes(name) ? 'neededAgain' : 'needed') };
  const wrong = wrongOf(kind, name);
  const sentence = (error as ApiError).messageAfter(`${part}.${name}`);
  return { path, text: wrong ? t(wrong) : sentence.charAt(0).toUpperCase() + sentence.slice(1) };
}

/** What is right in a field; without it, the server's own sentence is shown, which is English. */
function wrongOf(kind: ChannelKind, name: string) {
  if ((kind === 'ntfy' || kind === 'mqtt') && (name === 'topic' || name === 'url'))
    return `wrong.${kind}.${name}` as const;
  if (kind === 'alertmanager' && (name === 'labels' || name === 'url'))
    return `wrong.alertmanager.${name}` as const;
  if (kind === 'mqtt' && name === 'stateTopic') return 'wrong.mqtt.stateTopic';
  const type = channelFields[kind].find((field) => field.name === name)?.type;
  return type === 'url' ||
    type === 'email' ||
    type === 'emails' ||
    type === 'smtp' ||
    type === 'signing-key' ||
    type === 'incoming-secret'
    ? (`wrong.${type}` as const)
    : undefined;
}

/** What is sent: empty fields are left out. */
export function bodyOf({ name, kind, enabled, fields, removed }: ChannelValues) {
  const filled = channelFields[kind].filter((field) => fields[field.name]?.trim());
  const part = (isSecret: boolean) =>
    Object.fromEntries(
      filled
        .filter((field) => (field.isSecret ?? false) === isSecret)
        .map((field) => [field.name, fields[field.name] ?? '']),
    );
  const secrets = { ...Object.fromEntries(removed.map((each) => [each, null])), ...part(true) };
  return { name, enabled, settings: part(false), ...(Object.keys(secrets).length > 0 && { secrets }) };
}
