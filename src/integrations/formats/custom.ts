/** The mapping of a tenant as a format. */
import { mapOptionalTexts } from '#contract/history/fields.ts';
import type { MappingPut } from '#contract/integrations/integration.ts';
import { badField } from '#core/errors.ts';
import { type Format, type Item, itemsOf, usualLevel, wordOf } from '../format.ts';
import { longestText, PayloadWork, textOf } from '../payload.ts';

interface Subject {
  readonly work: PayloadWork;
  readonly item: unknown;
  readonly payload: unknown;
}
type Template = (subject: Subject) => string;

/** The most placeholders of one template, to limit the cost of an item. */
const mostPlaceholders = 20;
/** The most steps of one pointer. */
const mostSteps = 20;
/** What a placeholder costs, and each step of its pointer, compared to a character that is read. */
const placeholderCost = 16;
const stepCost = 8;

/**
 * Templates are compiled once for each mapping. A value that is missing, an object or a list is an empty text.
 * @throws AppError `bad-request` with the field that cannot be read.
 */
export function customFormat({ items, fields, labels = {}, levels = {} }: MappingPut): Format {
  const templates = new Map(compileAll('fields', fields));
  const labelTemplates = compileAll('labels', labels);
  // An empty pointer is the payload itself.
  const list = items === undefined ? undefined : parsePointer('items', items);
  const levelOfWord = new Map(Object.entries(levels).map(([word, level]) => [wordOf(word), level]));
  const read = (subject: Subject): Item => {
    const text = (name: string) => textOf(templates.get(name)?.(subject));
    const severity = wordOf(text('level') ?? 'info');
    const { host: source, ip: _, labels: __, ...texts } = mapOptionalTexts(text);
    return {
      ...texts,
      title: text('title'),
      message: text('message'),
      severity,
      level: levelOfWord.get(severity) ?? levelOfWord.get('*') ?? usualLevel(severity, 'info'),
      source,
      labels: labelTemplates.map(([name, template]) => [name, textOf(template(subject))]),
      isFiring: texts.key !== undefined,
      identity: text('identity'),
    };
  };
  return {
    read({ body, work = new PayloadWork(0) }) {
      // One whose items are the payload itself may also be sent a single item.
      if (!list || (list.length === 0 && !Array.isArray(body)))
        return [read({ item: body, payload: body, work })];
      return itemsOf(valueAt(body, list), items ?? '', (item) => read({ item, payload: body, work }));
    },
    criticalPattern: /./s,
  };
}

const compileAll = (path: string, texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([name, text]) => [name, compile(`${path}.${name}`, text)] as const);

const placeholder = /\{(\^?)(\/[^{}]*)\}/g;

function compile(path: string, text: string): Template {
  const parts: (string | { readonly ofPayload: boolean; readonly pointer: readonly string[] })[] = [];
  let at = 0;
  for (const match of text.matchAll(placeholder)) {
    const [whole, ofPayload, pointer = ''] = match;
    parts.push(text.slice(at, match.index), {
      ofPayload: ofPayload === '^',
      pointer: parsePointer(path, pointer),
    });
    at = match.index + whole.length;
  }
  parts.push(text.slice(at));
  if (parts.length > 2 * mostPlaceholders + 1)
    throw badField(path, `at most ${mostPlaceholders} placeholders are allowed`);
  return ({ item, payload, work }) => {
    let result = '';
    for (const part of parts) {
      const value =
        typeof part === 'string' ? part : read(part.ofPayload ? payload : item, part.pointer, work);
      result += value?.slice(0, longestText - result.length) ?? '';
      if (result.length >= longestText) break;
    }
    return result;
  };
}

/** The text at a pointer. What is read is added to `work`. */
function read(value: unknown, pointer: readonly string[], work: PayloadWork): string | undefined {
  const found = valueAt(value, pointer);
  const characters = typeof found === 'string' ? Math.min(found.length, longestText) : 0;
  work.add(placeholderCost + stepCost * pointer.length + characters);
  return textOf(found);
}

/** RFC 6901. */
function parsePointer(path: string, pointer: string): readonly string[] {
  const steps = pointer.split('/').slice(1);
  if (steps.length > mostSteps) throw badField(path, `a pointer may have at most ${mostSteps} steps`);
  if (/~(?![01])/.test(pointer))
    throw badField(path, `in ${pointer}, "~" must be written "~0", and "/" in a name "~1"`);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(value: unknown, pointer: readonly string[]): unknown {
  let found = value;
  for (const step of pointer) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined;
    if (Array.isArray(found) && !/^\d+$/.test(step)) return undefined;
    found = (found as Record<string, unknown>)[step];
  }
  return found;
}
