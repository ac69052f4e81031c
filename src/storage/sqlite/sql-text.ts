/** SQL put together from pieces, each with the values it binds: no value ever becomes part of the text. */
export type SqlValue = string | number | Uint8Array | null;

export interface Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** A piece of SQL; what stands in `${}` is another piece, or a value to bind. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  let text = strings[0] as string;
  const values: SqlValue[] = [];
  for (const [i, part] of parts.entries()) {
    if (isSql(part)) {
      text += part.text;
      values.push(...part.values);
    } else {
      text += '?';
      values.push(part);
    }
    text += strings[i + 1];
  }
  return { text, values };
}

const isSql = (part: Sql | SqlValue): part is Sql =>
  typeof part === 'object' && part !== null && !(part instanceof Uint8Array);

/** Text of our own: names of tables and columns, never anything that came from outside. */
export const rawSql = (text: string): Sql => ({ text, values: [] });

export function joinSql(parts: readonly Sql[], separator: string): Sql {
  return {
    text: parts.map(({ text }) => text).join(separator),
    values: parts.flatMap(({ values }) => values),
  };
}

/** `parts` joined by AND or OR in parentheses; without parts AND is true and OR is false. */
export function logicSql(operator: 'AND' | 'OR', parts: readonly Sql[]): Sql {
  if (parts.length === 0) return rawSql(operator === 'AND' ? '1' : '0');
  if (parts.length === 1) return parts[0] as Sql;
  return sql`(${joinSql(parts, ` ${operator} `)})`;
}

/** `(SELECT value …)` of a list, bound as one JSON text: the statement stays the same however long the list is. */
export const listSql = (values: readonly (string | number)[]): Sql =>
  sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** As {@link listSql}, for bytes. */
export const bytesListSql = (values: readonly Uint8Array[]): Sql =>
  sql`(SELECT unhex(value) FROM json_each(${JSON.stringify(values.map((bytes) => Buffer.from(bytes).toString('hex')))}))`;
