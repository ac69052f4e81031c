/** Reads a configuration file: YAML, checked against its schema, with the place of each mistake. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { Configuration, sections } from '#contract/configuration.ts';
import { incompleteSettings } from '#contract/panels/panel.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import { Failure } from '../failure.ts';
import { visibleText } from '../terminal-text.ts';

/** 20,000 usual rules take less. */
const maxBytes = 8 * 1024 * 1024;
const maxProblems = 20;
/** Anchors and aliases of a file, and what one anchor may stand for in all: more is an attack on time and memory. */
const maxAliases = 10_000;

export interface ConfigurationFile {
  readonly configuration: Configuration;
  /** An error at a place of the file, with its line and column. */
  problem(path: Path, message: string): Failure;
}

/** The whole text of the file, or of stdin for `-`. @throws Failure when it cannot be read, or is too large. */
export async function readFileText(path: string, stdin: Readable): Promise<string> {
  const source: Readable = path === '-' ? stdin : createReadStream(path);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk as Buffer | string);
      size += bytes.length;
      if (size > maxBytes)
        throw new Failure(`${path} is too large: at most ${maxBytes / 1024 / 1024} MiB`, 2);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error;
    throw new Failure(`cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? error.message})`, 2);
  }
  return decoded(Buffer.concat(chunks), path);
}

function decoded(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure(`${path} is not UTF-8 text`, 2);
  }
}

/** @throws Failure with one line for each mistake: file, line, column, field, and what would be right. */
export async function parseConfiguration(text: string, name: string): Promise<ConfigurationFile> {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const { document, data } = parsed(text, lines, at, name);
  const place = (path: Path, of?: 'field') => at(offsetOf(document, path, of));
  const problems = problemsOf(Configuration, data, maxProblems);
  if (problems.length === 0)
    problems.push(
      ...repeatedNames(data as Configuration, place),
      ...incompleteDisplays(data as Configuration),
    );
  if (problems.length > 0) {
    const found = await Promise.all(
      problems.map(
        async (problem) => `${place(problem.path, problem.known && 'field')}: ${await sentenceOf(problem)}`,
      ),
    );
    throw new Failure(found.map(visibleText).join('\n'), 2);
  }
  return {
    configuration: data as Configuration,
    problem: (path, message) => new Failure(visibleText(`${place(path)}: ${nameOf(path)}${message}`), 2),
  };
}

function parsed(text: string, lineCounter: LineCounter, at: (offset: number) => string, name: string) {
  try {
    const options = { lineCounter, prettyErrors: false, stringKeys: true, merge: true } as const;
    const document = parseDocument(text, options);
    const wrong = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${visibleText(message)}`);
    if (wrong.length > 0) throw new Failure(wrong.slice(0, maxProblems).join('\n'), 2);
    refuseManyAliases(document, name);
    return { document, data: document.toJS({ maxAliasCount: maxAliases }) as unknown };
  } catch (error) {
    if (error instanceof ReferenceError) throw new Failure(`${name}: ${error.message}`, 2);
    if (error instanceof RangeError) throw new Failure(`${name}: is nested too deeply`, 2);
    throw error;
  }
}

function refuseManyAliases(document: Document.Parsed, name: string): void {
  let count = 0;
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node) || (node as { anchor?: string }).anchor !== undefined) count += 1;
      return count > maxAliases ? visit.BREAK : undefined;
    },
  });
  if (count > maxAliases) throw new Failure(`${name} has more than ${maxAliases} anchors and aliases`, 2);
}

/** Entries are matched by name, so a name must not occur twice. */
function repeatedNames(configuration: Configuration, place: (path: Path) => string): Problem[] {
  return sections.flatMap((section) => {
    const first = new Map<string, number>();
    return (configuration[section] ?? []).flatMap((entry, i) => {
      const name = entry.name.trim();
      const known = first.get(name);
      if (known === undefined) first.set(name, i);
      return known === undefined
        ? []
        : [
            {
              path: [section, i, 'name'],
              message: `"${name}" is the name of another one at ${place([section, known, 'name'])}`,
            },
          ];
    });
  });
}

/** Display settings without the one that they need, which the server would refuse in the middle of the apply. */
const incompleteDisplays = ({ panels = [] }: Configuration): Problem[] =>
  panels.flatMap(({ display = {} }, i) =>
    incompleteSettings(display).map(([name, needed]) => ({
      path: ['panels', i, 'display', name],
      message: `needs ${needed}`,
    })),
  );

async function sentenceOf({ path, message, known }: Problem): Promise<string> {
  const where = nameOf(known ? path.slice(0, -1) : path);
  if (!known) return `${where}${message}`;
  // Imported only after a mistake, because it loads the server.
  const { offerNearest } = await import('#server/app.ts');
  return `${where}${message}${offerNearest(String(path.at(-1)), known).clause}`;
}

/** `rules[3].when.host: `, counted as lists in JSON are. */
function nameOf(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? '' : `${text.replace(/^\./, '')}: `;
}

/** Where the value at `path` begins (or the name of its field), or the nearest thing around it that the file has. */
function offsetOf(document: Document.Parsed, path: Path, of?: 'field'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [i, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? key.value === step : key === step));
      const isField = of === 'field' && i === path.length - 1;
      offset = startOf(isField ? pair?.key : (pair?.value ?? pair?.key)) ?? offset;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

/** The place that the server names in its error, as a path of the file: /rules/3/when/ip/0. */
export function pathOfPointer(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')));
}

type Path = readonly (string | number)[];

interface Problem {
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
function problemsOf(schema: TSchema, data: unknown, most: number): Problem[] {
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
