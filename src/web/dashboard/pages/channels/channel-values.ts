/** The values of a channel's form. */
import { ApiError } from '#client/api-error.ts';
import type { Channel } from '#contract/channel.ts';
import { type ChannelKind, channelFields } from '#contract/channel-fields.ts';
import type { RefusedField } from '#web/dashboard/components/edit-form.tsx';

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
export function refusedField(error: Error): RefusedField | undefined {
  const pointer = error instanceof ApiError ? error.place.pointer : undefined;
  const [, part, name] = /^\/(settings|secrets)\/(\w+)$/.exec(pointer ?? '') ?? [];
  if (part === undefined) return undefined;
  const text = (error as ApiError).messageAfter(`${part}.${name}`);
  return { path: `fields.${name}`, text: text.charAt(0).toUpperCase() + text.slice(1) };
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
