/** Requests made up from an OpenAPI document: every route and parameter, right and wrong. */
import { limits } from '#contract/limits.ts';
import type { Dice } from './dice.ts';
import { hostileSearch, hostileTexts, hostileValue, RawJson } from './hostile-values.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxLength?: number;
}

interface Parameter {
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly name: string;
  readonly schema?: Schema;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export interface MadeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | undefined;
}

/** Ids and names that exist, by the parameter or property that takes them, as in `rules.id` or `panelId`. */
export type Known = Readonly<Record<string, readonly string[]>>;

export function routesOf(document: Document): Route[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/** Makes requests of one document. `known` are real ids and names, by the name of the parameter that takes them. */
export class RequestMaker {
  readonly #document: Document;
  readonly #dice: Dice;
  readonly #now: () => Known;

  constructor(document: Document, dice: Dice, known: () => Known) {
    this.#document = document;
    this.#dice = dice;
    this.#now = known;
  }

  get #known(): Known {
    return this.#now();
  }

  make({ method, path, operation }: Route): MadeRequest {
    const dice = this.#dice;
    // Most must get past the first check, or nothing behind it is ever tried.
    const wrongness = dice.pick([0, 0, 0.02, 0.1, 0.1, 0.5]);
    const { parameters = [], requestBody } = operation;
    const query = parameters
      .filter((each) => each.in === 'query' && dice.chance(0.7))
      .map(({ name, schema }) => `${name}=${this.#encoded(this.#parameter(name, schema, wrongness))}`);
    if (dice.chance(wrongness / 2))
      query.push(
        `${dice.pick(['__proto__', 'q', 'limit[]', 'x'])}=${this.#encoded(dice.pick(hostileTexts))}`,
      );
    const filled = path.replace(/\{([^}]+)\}/g, (_, name: string) =>
      this.#encoded(this.#pathPart(name, path, wrongness)),
    );
    const headers = parameters
      .filter((each) => each.in === 'header' && dice.chance(0.2))
      .map(({ name, schema }) => [name, headerSafe(this.#parameter(name, schema, wrongness))] as const);
    const { type, body } = this.#body(requestBody?.content, wrongness);
    return {
      method,
      path: query.length > 0 ? `${filled}?${query.join('&')}` : filled,
      headers: [...headers, ...(type === undefined ? [] : [['content-type', type] as const])],
      body,
    };
  }

  #body(content: NonNullable<Operation['requestBody']>['content'] | undefined, wrongness: number) {
    const dice = this.#dice;
    if (content === undefined) {
      if (!dice.chance(wrongness / 2)) return { type: undefined, body: undefined };
      return { type: 'application/json', body: bytes(toJson(hostileValue(dice))) };
    }
    const types = Object.keys(content);
    const type = dice.pick(types);
    const value = dice.chance(wrongness / 4)
      ? hostileValue(dice)
      : this.#value(content[type]?.schema ?? {}, wrongness);
    const sent = dice.chance(wrongness / 4)
      ? dice.pick([...types, 'application/xml', 'text/html', ''])
      : type;
    if (type === 'application/x-www-form-urlencoded') return { type: sent, body: bytes(toForm(value)) };
    return {
      type: sent,
      body: bytes(type === 'text/plain' && typeof value === 'string' ? value : toJson(value)),
    };
  }

  #pathPart(name: string, path: string, wrongness: number): string {
    const dice = this.#dice;
    const kind = path.split('/')[2] ?? '';
    if (dice.chance(wrongness)) return dice.pick(kind === 'levels' ? notLevels : hostileTexts);
    return dice.pick(
      this.#known[`${kind}.${name}`] ?? this.#known[name] ?? ['01890000-0000-7000-8000-000000000000'],
    );
  }

  #parameter(name: string, schema: Schema | undefined, wrongness: number): string {
    const dice = this.#dice;
    if (name === 'q') return hostileSearch(dice);
    if (dice.chance(wrongness)) return dice.pick(hostileTexts);
    const known = this.#known[name];
    return known && dice.chance(0.5) ? dice.pick(known) : String(this.#value(schema ?? {}, wrongness));
  }

  /** Percent signs and all, or now and then bytes that are no URL. */
  #encoded(text: string): string {
    if (this.#dice.chance(0.005))
      return this.#dice.pick(['%', '%zz', '%00', '%ff%fe', '%c0%ae', '%2e%2e%2f']);
    return encodeURIComponent(text.toWellFormed());
  }

  #value(schema: Schema, wrongness: number): unknown {
    const dice = this.#dice;
    if (dice.chance(wrongness)) return hostileValue(dice);
    if (schema.$ref !== undefined) {
      const name = schema.$ref.split('/').at(-1) ?? '';
      return this.#value(this.#document.components?.schemas?.[name] ?? {}, wrongness);
    }
    if ('const' in schema) return schema.const;
    if (schema.enum) return dice.pick(schema.enum);
    const choices = schema.anyOf ?? schema.oneOf;
    if (choices) return this.#value(dice.pick(choices), wrongness);
    const type = typeof schema.type === 'string' ? schema.type : dice.pick(schema.type ?? ['string']);
    switch (type) {
      case 'object':
        return this.#object(schema, wrongness);
      case 'array': {
        const count = (schema.minItems ?? 0) + dice.below(4);
        return Array.from({ length: count }, () => this.#value(schema.items ?? {}, wrongness));
      }
      case 'integer':
      case 'number': {
        const { minimum = 0, maximum = 1_000_000 } = schema;
        return dice.pick([minimum, maximum, minimum + dice.below(Math.min(1_000, maximum - minimum + 1))]);
      }
      case 'boolean':
        return dice.chance(0.5);
      case 'null':
        return null;
      default:
        return this.#text(schema);
    }
  }

  #object({ properties = {}, required = [] }: Schema, wrongness: number): Record<string, unknown> {
    const dice = this.#dice;
    const object: Record<string, unknown> = Object.create(null);
    for (const [name, schema] of Object.entries(properties)) {
      const isWanted = required.includes(name) ? !dice.chance(wrongness / 3) : dice.chance(0.4);
      if (isWanted) object[name] = this.#named(name, schema, wrongness);
    }
    if (dice.chance(wrongness)) object[dice.pick(hostileTexts)] = hostileValue(dice);
    return object;
  }

  /** A property that takes an id or name that exists gets one as often as not. */
  #named(name: string, schema: Schema, wrongness: number): unknown {
    const known = this.#known[name];
    const isText = schema.type === 'string' && !schema.enum;
    if (known && isText && this.#dice.chance(0.5)) return this.#dice.pick(known);
    return this.#value(schema, wrongness);
  }

  #text({ format, pattern, maxLength = 60 }: Schema): string {
    const dice = this.#dice;
    if (format === 'date-time') return new Date(Date.now() + dice.below(1e9) - 5e8).toISOString();
    if (format === 'uuid') return dice.pick(this.#known.id ?? ['01890000-0000-7000-8000-000000000000']);
    if (pattern?.includes('[0-5][0-9]')) return dice.pick(['00:00', '08:30', '23:59']);
    if (pattern !== undefined) return `a${dice.below(30)}`;
    return dice
      .pick(['T', 'disk', 'UTC', '10.0.0.5', 'db-*', 'error', 'a b', 'é', 'vm (up|down)'])
      .slice(0, maxLength);
  }
}

/** A level that was sent is not deleted: what it counted would go with it, and the count at the end is compared. */
const notLevels = hostileTexts.filter((text) => !limits.levelPattern.test(text.trim().toLowerCase()));

const bytes = (text: string) => Buffer.from(text);

const headerSafe = (text: string) =>
  Buffer.from(text)
    .toString('latin1')
    .replaceAll(/[\r\n\0]/g, ' ');

/** As JSON.stringify, but what is raw goes out as it stands, and nothing is left out. */
export function toJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null)
    return `{${Object.entries(value)
      .map(([name, each]) => `${JSON.stringify(name)}:${toJson(each)}`)
      .join(',')}}`;
  return JSON.stringify(value) ?? 'null';
}

function toForm(value: unknown): string {
  if (typeof value !== 'object' || value === null || value instanceof RawJson) return toJson(value);
  return Object.entries(value)
    .map(([name, each]) => {
      const text = typeof each === 'string' ? each : toJson(each);
      return `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(text.toWellFormed())}`;
    })
    .join('&');
}
