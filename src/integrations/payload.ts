/** Reads values of an unvalidated payload. */
import { limits } from '#contract/limits.ts';
import { isPlainObject } from '#contract/plain-object.ts';
import { AppError, badRequest } from '#core/errors.ts';

export type JsonObject = Readonly<Record<string, unknown>>;
/** A label as its sender wrote it. An empty text is a label without a value; what is no text, number or boolean is no label. */
export type SentLabel = readonly [name: unknown, value: unknown];

/** Of a longer list only the first ones are read. */
const mostItems = 1_000;

/** Longer than any field. A longer text is cut before it is read, so that many items cannot repeat the work for one very long text. */
export const longestText = 2 * limits.messageChars + 2;

const invalid = (pointer: string, wanted: string) =>
  new AppError('bad-request', `${pointer === '' ? 'the body' : nameOf(pointer)} must be ${wanted}`, {
    place: { pointer },
  });

/** `/alerts/3/labels` is alerts[3].labels. */
const nameOf = (pointer: string) =>
  pointer
    .slice(1)
    .replace(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.');

/** `pointer`: its place in the body, empty for the body itself. @throws AppError `bad-request` when it is no object. */
export function objectAt(value: unknown, pointer = ''): JsonObject {
  if (isPlainObject(value)) return value;
  throw invalid(pointer, 'a JSON object');
}

/** An object, or an empty one when it is absent. @throws AppError `bad-request` when it is something else. */
export function optionalObject(value: unknown, pointer: string): JsonObject {
  return value === undefined || value === null ? {} : objectAt(value, pointer);
}

/** The objects of a list, at most the first 1,000. @throws AppError `bad-request` when it is no list of objects. */
export function objectsAt(value: unknown, pointer: string): readonly JsonObject[] {
  if (!Array.isArray(value)) throw invalid(pointer, 'a list');
  return value.slice(0, mostItems).map((each, i) => objectAt(each, `${pointer}/${i}`));
}

/** The first text that is not blank, number or boolean of some values, as text; of a very long text, its beginning. */
export function textOf(...values: readonly unknown[]): string | undefined {
  for (const value of values) {
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    if (typeof value !== 'string') continue;
    const text = value.slice(0, longestText).trim();
    if (text !== '') return text;
  }
  return undefined;
}

/** As {@link textOf}. @throws AppError `bad-request` that names the missing field. */
export function requiredText(value: unknown, pointer: string): string {
  const text = textOf(value);
  if (text !== undefined) return text;
  throw invalid(pointer, 'a text');
}

/** @throws AppError `bad-request` that names the choices. */
export function choiceAt<T extends string>(value: unknown, pointer: string, choices: readonly T[]): T {
  const chosen = choices.find((each) => each === value);
  if (chosen !== undefined) return chosen;
  throw invalid(pointer, `one of ${choices.join(', ')}`);
}

/** Each name with its text, one a line, as in `job: node`. Objects and lists are JSON. */
export function linesOf(values: JsonObject): string {
  return Object.entries(values)
    .flatMap(([name, value]) => {
      const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : textOf(value);
      return text === undefined ? [] : [`${name}: ${text}`];
    })
    .join('\n');
}

/** Names with values, of which only the first 1,000 are read; none if it is no object. */
export function labelsOfObject(value: unknown): readonly SentLabel[] {
  if (!isPlainObject(value)) return [];
  return Object.keys(value)
    .slice(0, mostItems)
    .map((name) => [name, value[name]]);
}

/**
 * Of a list such as [{"tag": "env", "value": "prod"}] or [["env", "prod"]], whose items have a name at `name`, and may have a value
 * at `content`; none if it is no list.
 */
export function labelsOfList(value: unknown, name: string, content: string): readonly SentLabel[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, mostItems).flatMap((item: JsonObject | null) => {
    return typeof item === 'object' && item ? [[item[name], item[content] ?? ''] as const] : [];
  });
}

/** Of words such as `backup` and `env=prod`. */
export const labelsOfWords = (words: readonly unknown[]): readonly SentLabel[] =>
  words.slice(0, mostItems).map((word) => {
    const text = textOf(word) ?? '';
    const at = text.indexOf('=');
    return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  });

/** The texts that are not blank, with an empty line between them, or another separator. */
export function joinTexts(texts: readonly (string | undefined)[], separator = '\n\n'): string {
  return texts.filter((text) => text !== undefined && text.trim() !== '').join(separator);
}

/** A large webhook has a million characters; a mapping may read some of them more than once. */
const mostCharacters = 8 * 1024 * 1024;
/** The work that one token of the rate limit pays for: as much as a small webhook has. */
const charactersOfToken = 64 * 1024;

/** Counts the characters that a payload makes the server read, so that a small payload cannot cause much work. */
export class PayloadWork {
  #characters: number;
  #isPaid = false;

  /** `characters`: of the body itself. */
  constructor(characters: number) {
    this.#characters = characters;
  }

  /** The payload was stored in part, and is sent again for the rest: it was paid for at the first time. */
  forgive(): void {
    this.#isPaid = true;
  }

  /** @throws AppError `bad-request` once the payload is too expensive. */
  add(characters: number): void {
    this.#characters += characters;
    if (this.#characters > mostCharacters)
      throw badRequest(
        `the mapping reads more than ${mostCharacters} characters of this payload: send fewer items at once`,
      );
  }

  /** The tokens of the rate limit that it costs beside the one of each notification. */
  get extraTokens(): number {
    return this.#isPaid ? 0 : Math.floor(this.#characters / charactersOfToken);
  }
}
