/** Describes an audit entry: the name of its subject, and what changed. */

type Fields = Readonly<Record<string, unknown>>;

/** Fields with a name for people, in order of preference. */
const naming = ['name', 'email', 'panel', 'title'] as const;

interface AuditReading {
  /** The subject's name; undefined if there is only an id. */
  readonly name: string | undefined;
  /** "role: viewer → admin" for a change, "scopes: notify" for a fact. */
  readonly facts: readonly string[];
}

export function readDetail({ before, after, ...rest }: Fields): AuditReading {
  const nameField = naming.find((field) => typeof rest[field] === 'string' && rest[field] !== '');
  const facts = Object.entries(rest)
    .filter(([field, value]) => field !== nameField && !isNothing(value))
    .map(([field, value]) => `${field}: ${textOf(value)}`);
  return {
    name: nameField && String(rest[nameField]),
    facts: [...changes(before, after), ...facts],
  };
}

/** An update has its changed fields, a new order is one value, and a creation has nothing before it. */
function changes(before: unknown, after: unknown): string[] {
  if (after === undefined) return [];
  if (!isFields(after)) return [`${textOf(before)} → ${textOf(after)}`];
  const known = isFields(before) ? before : {};
  return Object.entries(after).map(([field, is]) =>
    isNothing(known[field]) ? `${field}: ${textOf(is)}` : `${field}: ${textOf(known[field])} → ${textOf(is)}`,
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNothing(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

function textOf(value: unknown): string {
  if (isNothing(value)) return '–';
  if (Array.isArray(value)) return value.map(textOf).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
