/** The values of a channel's form. */
import type { Channel } from '#contract/channel.ts';
import { type ChannelKind, channelFields } from '#contract/channel-fields.ts';

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
