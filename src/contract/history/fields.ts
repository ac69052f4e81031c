/**
 * The fields of a notification, each with what is said of it in one place: its name, its header, its schema, and how rules and
 * searches compare it. Headers, the check of what was sent, the OpenAPI document, terms of searches and completions come from here.
 */
import { type TSchema, Type } from 'typebox';
import { limits } from '../limits.ts';
import { type LabelField, labelEntries, labelFieldPattern, labelPair } from './labels.ts';

/** A field that a sender may give in the body, as a header, or in a form. */
export interface SentField {
  /** As the documentation writes it; the letters' case does not count. */
  readonly header: string;
  readonly description: string;
  /** As OpenAPI has it. Intake checks it by itself (`core/intake/notification.ts`), as its errors name the correct form. */
  readonly schema: TSchema;
  readonly isRequired?: true;
}

export const LabelsSchema = Type.Record(
  Type.String({ pattern: limits.labelNamePattern.source }),
  Type.String({ maxLength: limits.labelValueChars }),
  { maxProperties: limits.labels },
);

/** One of these names, or a label, as in `label:cluster`. */
export const fieldOrLabel = <Name extends string>(names: readonly Name[]) =>
  Type.Union(
    [Type.Enum([...names]), Type.Unsafe<LabelField>(Type.String({ pattern: labelFieldPattern.source }))],
    { errorMessage: `must be one of ${names.join(', ')}, or a label, as in label:cluster` },
  );

/**
 * Texts that a sender may leave out. Everything from intake to panels, history and channels carries them as they are; null: not
 * given. Labels are one text inside, and an object outside (`labels.ts`).
 */
const optionalTexts = {
  ip: {
    header: 'X-IP',
    description: 'IPv4 or IPv6 address of the origin.',
    schema: Type.String(),
  },
  host: {
    header: 'X-Host',
    description: 'Host name of the origin.',
    schema: Type.String({
      minLength: 1,
      maxLength: limits.hostChars,
    }),
  },
  key: {
    header: 'X-Key',
    description: 'A later notification with the same key replaces this one on panels.',
    schema: Type.String({
      minLength: 1,
      maxLength: limits.keyChars,
    }),
  },
  url: {
    header: 'X-URL',
    description: 'Absolute http or https link.',
    schema: Type.String({ maxLength: limits.urlChars }),
  },
  labels: {
    header: 'X-Labels',
    description: 'Names with values, as in {"env": "prod"}; in the header env=prod, site=plant 2.',
    schema: LabelsSchema,
  },
} as const satisfies Readonly<Record<string, SentField>>;

export type OptionalText = keyof typeof optionalTexts;
export type OptionalTexts = Readonly<Record<OptionalText, string | null>>;
export const optionalTextNames = Object.keys(optionalTexts) as OptionalText[];

/** Something for each optional text, by name. */
export const mapOptionalTexts = <T>(of: (name: OptionalText) => T) =>
  Object.fromEntries(optionalTextNames.map((name) => [name, of(name)])) as Record<OptionalText, T>;

/** The optional texts of something that also has other fields, and may lack some. */
export const optionalTextsOf = (from: Partial<OptionalTexts>): OptionalTexts =>
  mapOptionalTexts((name) => from[name] ?? null);

/** None of them was given. */
export const noTexts: OptionalTexts = mapOptionalTexts(() => null);

/** In the order in which they are checked: the error names the first one that is wrong. */
export const sentFields = {
  title: {
    header: 'X-Title',
    description: 'Short summary.',
    schema: Type.String({ minLength: 1, maxLength: limits.titleChars }),
    isRequired: true,
  },
  message: {
    header: 'X-Message',
    description: 'The full text.',
    schema: Type.String({ minLength: 1, maxLength: limits.messageChars }),
    isRequired: true,
  },
  level: {
    header: 'X-Level',
    description: 'success, info, warning, error, critical or a custom level.',
    schema: Type.String({
      default: 'info',
    }),
  },
  ttl: {
    header: 'X-TTL',
    description: 'Milliseconds on panels; 0 stays until cleared.',
    schema: Type.Integer({
      minimum: 0,
      maximum: limits.ttlMaxMs,
    }),
  },
  ...optionalTexts,
  expectEvery: {
    header: 'X-Expect-Every',
    description:
      'The next notification of this key must come within this time, as in 5m, or milliseconds: otherwise Belfry sends one. 0 ends that.',
    schema: Type.Union([Type.Integer({ minimum: 0 }), Type.String()]),
  },
  expectCron: {
    header: 'X-Expect-Cron',
    description:
      'The next notification of this key must come at the next of these times: five fields of cron, as in 0 3 * * 1-5.',
    schema: Type.String({ maxLength: limits.cronChars }),
  },
  expectTimeZone: {
    header: 'X-Expect-Time-Zone',
    description: 'Time zone of expectCron, as in Europe/Berlin. By default that of the tenant.',
    schema: Type.String({ maxLength: 64 }),
  },
  expectGrace: {
    header: 'X-Expect-Grace',
    description:
      'How much later it may come, as in 30m, or milliseconds. By default 1h, with expectEvery a tenth of it.',
    schema: Type.Union([Type.Integer({ minimum: 0 }), Type.String()]),
  },
  expectStart: {
    header: 'X-Expect-Start',
    description:
      '1: this one says that work began. Its end, the next notification of the key, must come within expectGrace.',
    schema: Type.Union([Type.Boolean(), Type.Integer({ minimum: 0, maximum: 1 }), Type.String()]),
  },
  expectLevel: {
    header: 'X-Expect-Level',
    description: 'The level of the one that Belfry sends.',
    schema: Type.String({ default: 'error' }),
  },
} as const satisfies Readonly<Record<string, SentField>>;

export type FieldName = keyof typeof sentFields;
export const fieldNames = Object.keys(sentFields) as FieldName[];

/** A text that rules compare with patterns, searches find by patterns (`host:db-*`), and completion offers the values of. */
export interface PatternField {
  /** Searches ignore the case of letters. Rules always do. */
  readonly ignoresCase: boolean;
  /** The index also has the values reversed, under this name, for patterns such as *.example.org. */
  readonly reversed?: string;
}

export const patternFields = {
  host: { ignoresCase: true, reversed: 'tsoh' },
  key: { ignoresCase: false },
} as const satisfies Readonly<Record<string, PatternField>>;

export type PatternFieldName = keyof typeof patternFields;
export const patternFieldNames = Object.keys(patternFields) as PatternFieldName[];

/** Something for each of them, by name. */
export const mapPatternFields = <T>(of: (name: PatternFieldName) => T) =>
  Object.fromEntries(patternFieldNames.map((name) => [name, of(name)])) as Record<PatternFieldName, T>;

/** What searches find by patterns: each of these texts, and each label as `name=value`. */
export const searchedFields = [...patternFieldNames, 'label'] as const;
export type SearchedField = (typeof searchedFields)[number];

export const isSearchedField = (name: string): name is SearchedField =>
  name === 'label' || Object.hasOwn(patternFields, name);

/** As an index and searches have the value. */
export const searchForm = (field: SearchedField, value: string): string =>
  field === 'label' || patternFields[field].ignoresCase ? value.toLowerCase() : value;

const none: readonly string[] = [];

/** What a notification has there, in the form of searches. */
export function searchedValues(
  field: SearchedField,
  given: Pick<OptionalTexts, PatternFieldName | 'labels'>,
): readonly string[] {
  const text = given[field === 'label' ? 'labels' : field];
  if (text === null) return none;
  if (field !== 'label') return [searchForm(field, text)];
  return labelEntries(text).map(([name, value]) => searchForm('label', labelPair(name, value)));
}

/** Keys of searches whose values the history of a tenant knows. */
export const valueKeys = [...searchedFields, 'ip', 'source', 'token', 'panel', 'rule'] as const;
export type ValueKey = (typeof valueKeys)[number];

/** The keys of searches, as in `host:db-*`, in the order in which completion offers them. */
export const searchKeys = [
  'level',
  ...valueKeys,
  'is',
  'since',
  'after',
  'before',
  'title',
  'message',
] as const;
export type SearchKey = (typeof searchKeys)[number];
