/** The types of an audit entry's fields. The server cuts long values to texts, and a newer one may send other types. */
import { isFields } from './audit-detail.ts';

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

export const isInstant = (value: unknown): value is string =>
  typeof value === 'string' && instant.test(value);
const isText = (value: unknown) => typeof value === 'string';
const isLimit = (value: unknown) => value === null || value === 'off' || typeof value === 'number';

const types = {
  when: isFields,
  then: isFields,
  windows: Array.isArray,
  order: Array.isArray,
  secrets: Array.isArray,
  revokedKeys: Array.isArray,
  invitedBy: isText,
  rate: (value: unknown) => value === null || value === 'off' || isFields(value),
  retentionDays: isLimit,
  retentionCount: isLimit,
  expiresAt: (value: unknown) => value === null || isInstant(value),
  durationMs: (value: unknown) => typeof value === 'number',
  role: isText,
  kind: isText,
  minLevel: isText,
  panelId: isText,
} satisfies Readonly<Record<string, (value: unknown) => boolean>>;

/** A field that has words of its own. */
export type TypedField = keyof typeof types;

/** Whether a field has words of its own, for a value of this type. */
export const isTyped = (field: string, value: unknown): field is TypedField =>
  isTypedField(field) && types[field](value);

/** Whether the value is the beginning of a long list or object. */
export const isCut = (field: string, value: unknown): boolean =>
  isTypedField(field) && !types[field](value) && typeof value === 'string' && value.endsWith('…');

const isTypedField = (field: string): field is TypedField => Object.hasOwn(types, field);
