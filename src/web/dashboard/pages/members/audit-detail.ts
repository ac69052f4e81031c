/** Describes an audit entry: the name of its subject, and what changed. */

import type { AuditEntry } from '#contract/people/audit.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Fields with a name for people, in order of preference. */
const naming = ['name', 'email', 'panel', 'title'] as const;
/** Ids that say nothing to people. */
const hidden: readonly string[] = ['device', 'invitation'];

export interface AuditFact {
  /** As in "Display › Size"; empty for a whole rule. */
  readonly label: string;
  /** undefined for what is new. */
  readonly before: string | undefined;
  readonly after: string;
}

interface AuditReading {
  /** The subject's name; undefined if there is only an id. */
  readonly name: string | undefined;
  readonly facts: readonly AuditFact[];
}

/** The words of the reader's language. */
export interface AuditWords {
  field(name: string): string;
  /** undefined for an object whose fields are described one by one. */
  value(field: string, value: unknown): string | undefined;
  /** All that a rule does. */
  rule(detail: Fields): string;
}

/** The words for what has no name of its own. */
export interface SubjectWords {
  /** The name of what an id stands for, while it exists. */
  nameOf(id: string): string | undefined;
  /** As in "a deleted channel". */
  unnamed(kind: string): string | undefined;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What was changed: its name, or words in the place of an id that says nothing. */
export function subjectText(
  { action, subject, by }: Pick<AuditEntry, 'action' | 'subject' | 'by'>,
  name: string | undefined,
  words: SubjectWords,
): string {
  const known = name ?? words.nameOf(subject);
  if (known !== undefined || !(uuid.test(subject) || action === 'rule.order')) return known ?? subject;
  const [kind = ''] = action.split('.');
  // People cause the entries about their accounts themselves; others are by the command line.
  if ((kind === 'account' || kind === 'session') && by.includes('@')) return by;
  return words.unnamed(kind) ?? subject;
}

export function readDetail({ before, after, ...rest }: Fields, words: AuditWords): AuditReading {
  const nameField = naming.find((field) => typeof rest[field] === 'string' && rest[field] !== '');
  const more = Object.entries(rest).filter(([field]) => field !== nameField && !hidden.includes(field));
  const name = nameField && String(rest[nameField]);
  if (isWholeRule(rest)) return { name, facts: ruleFacts(rest, words) };
  const isNew = isNothing(before);
  const changes = Array.isArray(after)
    ? [
        {
          label: words.field('order'),
          before: textOf('order', before, words),
          after: textOf('order', after, words),
        },
      ]
    : differences([], before ?? {}, after ?? {}, words).filter((fact) => !isNew || !fact.isEmpty);
  const facts = differences([], {}, Object.fromEntries(more), words).filter(({ isEmpty }) => !isEmpty);
  return {
    name,
    facts: [
      ...changes.map((fact) => ({
        label: fact.label,
        before: isNew ? undefined : fact.before,
        after: fact.after,
      })),
      ...facts.map((fact) => ({ label: fact.label, before: undefined, after: fact.after })),
    ],
  };
}

/** Without a part that the server cut, the sentence of a rule would be another rule's. */
const isWholeRule = ({ when, then, windows }: Fields) =>
  isFields(then) && typeof when !== 'string' && typeof windows !== 'string';

/** A rule that was created or deleted: its sentence, and its note. */
function ruleFacts(rule: Fields, words: AuditWords): AuditFact[] {
  const facts = [{ label: '', before: undefined, after: words.rule(rule) }];
  for (const field of rule.enabled === false ? ['note', 'enabled'] : ['note'])
    if (!isNothing(rule[field]))
      facts.push({ label: words.field(field), before: undefined, after: textOf(field, rule[field], words) });
  return facts;
}

/** The server cuts longer values. */
const longestValue = 2_000;

interface Difference {
  readonly label: string;
  readonly before: string;
  readonly after: string;
  /** There is nothing afterwards. */
  readonly isEmpty: boolean;
}

/** Every field that differs, those of objects one by one. */
function differences(
  path: readonly string[],
  before: unknown,
  after: unknown,
  words: AuditWords,
): Difference[] {
  const field = path.at(-1) ?? '';
  if (isFields(before ?? {}) && isFields(after ?? {}) && words.value(field, after ?? before) === undefined) {
    const [was, is] = [(before ?? {}) as Fields, (after ?? {}) as Fields];
    const fields = [...new Set([...Object.keys(was), ...Object.keys(is)])];
    return fields.flatMap((each) => differences([...path, each], was[each], is[each], words));
  }
  const [was, is] = [textOf(field, before, words), textOf(field, after, words)];
  // Two values that the server cut may differ behind what it kept.
  if (was === is && !(typeof after === 'string' && after.length > longestValue)) return [];
  return [{ label: path.map(words.field).join(' › '), before: was, after: is, isEmpty: isNothing(after) }];
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

function textOf(field: string, value: unknown, words: AuditWords): string {
  const text = words.value(field, value);
  if (text !== undefined) return text;
  if (isNothing(value)) return '–';
  if (Array.isArray(value)) return value.map((each) => textOf(field, each, words)).join(', ');
  return String(value);
}

/** The types of an audit entry's fields. The server cuts long values to texts, and a newer one may send other types. */

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
  revokedTokens: Array.isArray,
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
