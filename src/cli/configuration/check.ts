/** Checks a file's data against its schema; one problem for each mistake, in words for people. */
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { isPlainObject } from '#contract/plain-object.ts';

export type Path = readonly (string | number)[];

export interface Problem {
  readonly path: Path;
  readonly message: string;
  /** For a field that does not exist: the fields that do. The path ends with the unknown one. */
  readonly known?: readonly string[];
}

/** The parts of JSON Schema that the contract uses. */
interface Schema {
  readonly type?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly description?: string;
}

/** At most `most` problems, in the order of the file. */
export function problemsOf(schema: TSchema, data: unknown, most: number): Problem[] {
  const found: Problem[] = [];
  for (const problem of check(schema as Schema, data, [])) {
    found.push(problem);
    if (found.length === most) break;
  }
  return found;
}

function* check(schema: Schema, value: unknown, path: Path): Generator<Problem> {
  if (schema.anyOf) yield* checkAny(schema.anyOf, value, path);
  else if (schema.type === 'array') yield* checkList(schema, value, path);
  else if (schema.type === 'object') yield* checkMapping(schema, value, path);
  else yield* checkScalar(schema, value, path);
}

function* checkList(schema: Schema, value: unknown, path: Path): Generator<Problem> {
  if (!Array.isArray(value)) return yield { path, message: 'must be a list' };
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, items = {} } = schema;
  if (value.length < minItems) yield { path, message: `must have at least ${minItems} item` };
  if (value.length > maxItems) return yield { path, message: `must have at most ${maxItems} items` };
  const known = new Map<string, number>();
  for (const [i, item] of value.entries()) {
    yield* check(items, item, [...path, i]);
    if (!schema.uniqueItems) continue;
    const text = JSON.stringify(item) ?? '';
    if (known.has(text)) yield { path: [...path, i], message: `repeats item ${(known.get(text) ?? 0) + 1}` };
    else known.set(text, i);
  }
}

function* checkMapping(schema: Schema, value: unknown, path: Path): Generator<Problem> {
  if (!isPlainObject(value)) return yield { path, message: `must be a mapping${hintFor(value)}` };
  const { properties = {}, patternProperties = {}, required = [] } = schema;
  const [ofOthers] = Object.values(patternProperties);
  for (const [name, inner] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : ofOthers;
    if (own) yield* check(own, inner, [...path, name]);
    else if (schema.additionalProperties === false)
      yield {
        path: [...path, name],
        message: `there is no field "${name}"`,
        known: Object.keys(properties),
      };
  }
  for (const name of required)
    if (!Object.hasOwn(value, name)) yield { path, message: `the field "${name}" is missing` };
}

/** The errors of a value that may have one of several forms: those of the form that it resembles, if only one does. */
function* checkAny(forms: readonly Schema[], value: unknown, path: Path): Generator<Problem> {
  if (forms.some((form) => Value.Check(form as TSchema, value))) return;
  const same = forms.filter((form) => kindOf(form) === kindOfValue(value));
  const [only] = same;
  if (only && same.length === 1 && only.const === undefined) return yield* check(only, value, path);
  if (isPlainObject(value) && same.length > 1) return yield* checkForms(same, value, path);
  yield { path, message: `must be ${listed(forms.map(describe))}${hintFor(value)}` };
}

/** Of several forms with fields of their own, exactly one is to be given. */
function* checkForms(forms: readonly Schema[], value: object, path: Path): Generator<Problem> {
  const fields = [...new Set(forms.flatMap(({ properties = {} }) => Object.keys(properties)))];
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  const given = Object.keys(value).filter((name) => fields.includes(name));
  const meant = forms.find(({ properties = {} }) => given.every((name) => Object.hasOwn(properties, name)));
  if (unknown !== undefined)
    yield { path: [...path, unknown], message: `there is no field "${unknown}"`, known: fields };
  else if (!meant || given.length === 0) yield { path, message: `must have one of ${fields.join(', ')}` };
  else yield* check(meant, value, path);
}

function* checkScalar(schema: Schema, value: unknown, path: Path): Generator<Problem> {
  const [error] = Value.Errors(schema as TSchema, value);
  if (!error) return;
  const isForm = error.keyword === 'pattern' || error.keyword === 'format';
  const what =
    schema.enum || schema.const !== undefined || error.keyword === 'type'
      ? `must be ${describe(schema)}`
      : isForm && schema.description
        ? `is not valid: ${schema.description}`
        : error.message;
  yield { path, message: `${what}${hintFor(value)}` };
}

function describe(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return listed(schema.enum.map(String));
  switch (schema.type) {
    case 'array':
      return 'a list';
    case 'object':
      return `a mapping with ${Object.keys(schema.properties ?? {}).join(', ')}`;
    case 'null':
      return 'null';
    case 'integer':
      return 'an integer';
    default:
      return `a ${schema.type ?? 'value'}`;
  }
}

function listed(words: readonly string[]): string {
  const distinct = [...new Set(words)];
  const last = distinct.pop() ?? '';
  return distinct.length === 0 ? last : `${distinct.join(', ')} or ${last}`;
}

/** YAML's own traps. */
function hintFor(value: unknown): string {
  return value === null ? '; it is empty (a value that begins with # must be quoted)' : '';
}

function kindOf({ type, enum: choices, const: only }: Schema): string {
  if (only !== undefined) return typeof only;
  if (choices) return typeof choices[0];
  return type === 'integer' ? 'number' : (type ?? 'any');
}

function kindOfValue(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
