/** The state of a token or key, and its expiry. */
import type { Key } from '#contract/people/token.ts';
import { fromDateTimeField, toDateTimeField } from '#web/dashboard/formats/wall-clock.ts';

type CredentialState = 'active' | 'expiring' | 'expired' | 'revoked';

/** Credentials that expire within this time get a warning. */
export const warnMs = 14 * 86_400_000;

export function stateOf(
  { revokedAt, expiresAt }: Pick<Key, 'revokedAt' | 'expiresAt'>,
  now: number,
): CredentialState {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const leftMs = Date.parse(expiresAt) - now;
  if (leftMs <= 0) return 'expired';
  return leftMs <= warnMs ? 'expiring' : 'active';
}

export const hasEnded = (state: CredentialState): boolean => state === 'expired' || state === 'revoked';

export const expiryPresets = ['never', '30', '90', '365', 'date'] as const;

export interface ExpiryValues {
  readonly preset: (typeof expiryPresets)[number];
  /** The value of a date and time field, in the tenant's time zone. */
  readonly at: string;
}

export const expiryValuesOf = (expiresAt: string | null, timeZone: string): ExpiryValues =>
  expiresAt === null
    ? { preset: 'never', at: '' }
    : { preset: 'date', at: toDateTimeField(Date.parse(expiresAt), timeZone) };

/** null means never; undefined without a valid future time. */
export function expiresAtOf(
  { preset, at }: ExpiryValues,
  timeZone: string,
  now: number,
): string | null | undefined {
  if (preset === 'never') return null;
  const instant = preset === 'date' ? fromDateTimeField(at, timeZone) : now + Number(preset) * 86_400_000;
  return instant === undefined || instant <= now ? undefined : new Date(instant).toISOString();
}

/** Splits the text into entries. */
export const entriesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((entry) => entry !== '');

/** The first entry that is no address and no CIDR block, as 10.0.0.5, 10.0.0.0/8 or fd00::/8 are. */
export const wrongEntry = (text: string): string | undefined =>
  entriesOf(text).find((entry) => !isAddressOrBlock(entry));

function isAddressOrBlock(entry: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  if (isV4(address)) return Number(prefix ?? 0) <= 32;
  return isV6(address) && Number(prefix ?? 0) <= 128;
}

const isV4 = (text: string) =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) &&
  text.split('.').every((part) => Number(part) <= 255 && String(Number(part)) === part);

function isV6(text: string): boolean {
  return /^[0-9a-f:.]{2,45}$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]`);
}
