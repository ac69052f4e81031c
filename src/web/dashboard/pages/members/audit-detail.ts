/** Describes an audit entry: the name of its subject, and what changed. */

type Fields = Readonly<Record<string, unknown>>;

/** Fields with a name for people, in order of preference. */
const naming = ['name', 'email', 'panel', 'title'] as const;

interface AuditReading {
  /** The subject's name; undefined if there is only an id. */
  readonly name: string | undefined;
  /** "Role: Viewer → Admin" for a change, "Scopes: notify" for a fact. */
  readonly facts: readonly string[];
}

/** The words of the reader's language. */
export interface AuditWords {
  readonly field: (name: string) => string;
  readonly value: (field: string, value: string | number | boolean) => string;
}

export function readDetail({ before, after, ...rest }: Fields, words: AuditWords): AuditReading {
  const nameField = naming.find((field) => typeof rest[field] === 'string' && rest[field] !== '');
  const facts = Object.entries(rest)
    .filter(([field, value]) => field !== nameField && !isNothing(value))
    .map(([field, value]) => `${words.field(field)}: ${textOf(field, value, words)}`);
  return {
    name: nameField && String(rest[nameField]),
    facts: [...changes(before, after, words), ...facts],
  };
}

/** An update has its changed fields, a new order is one value, and a creation has nothing before it. */
function changes(before: unknown, after: unknown, words: AuditWords): string[] {
  if (after === undefined) return [];
  if (!isFields(after)) return [`${textOf('', before, words)} → ${textOf('', after, words)}`];
  const known = isFields(before) ? before : {};
  return Object.entries(after).map(([field, is]) => {
    const was = isNothing(known[field]) ? '' : `${textOf(field, known[field], words)} → `;
    return `${words.field(field)}: ${was}${textOf(field, is, words)}`;
  });
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
  if (isNothing(value)) return '–';
  if (Array.isArray(value)) return value.map((each) => textOf(field, each, words)).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : words.value(field, value as string);
}
