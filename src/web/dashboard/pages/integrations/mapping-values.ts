/** The form values of a mapping, and the pointers that a payload offers. */
import { optionalTextNames } from '#contract/history/fields.ts';
import type { Mapping, MappingPut } from '#contract/integrations/integration.ts';

export type FieldName = Exclude<keyof MappingPut['fields'], 'labels'>;
export const fieldNames: readonly FieldName[] = [
  ...(['title', 'message', 'level'] as const),
  // `host` takes addresses, too; labels have templates of their own.
  ...optionalTextNames.filter((name) => name !== 'ip' && name !== 'labels'),
  'identity',
];

export interface MappingValues {
  readonly name: string;
  readonly items: string;
  /** The payload itself is the list, whatever `items` is. */
  readonly isRootList: boolean;
  readonly fields: Readonly<Record<FieldName, string>>;
  readonly levels: readonly { readonly word: string; readonly level: string }[];
  /** What the form does not show, and saves as it was. */
  readonly others: Omit<MappingPut, 'items' | 'fields' | 'levels'>;
}

export function valuesOf(mapping: Mapping | undefined): MappingValues {
  const { name = '', items, fields, levels = {}, updatedAt: _, updatedBy: __, ...others } = mapping ?? {};
  return {
    name,
    items: items ?? '',
    isRootList: items === '',
    fields: Object.fromEntries(fieldNames.map((field) => [field, fields?.[field] ?? ''])) as Record<
      FieldName,
      string
    >,
    levels: Object.entries(levels).map(([word, level]) => ({ word, level })),
    others,
  };
}

/** Omits empty values. */
export function mappingOf({ items, isRootList, fields, levels, others }: MappingValues): MappingPut {
  const pointer = isRootList ? '' : items.trim() || undefined;
  const filled = fieldNames.filter((name) => fields[name].trim() !== '');
  const words = levels.filter(({ word, level }) => word.trim() !== '' && level !== '');
  return {
    ...others,
    ...(pointer !== undefined && { items: pointer }),
    fields: {
      ...Object.fromEntries(filled.map((name) => [name, fields[name]])),
      title: fields.title,
    },
    ...(words.length > 0 && {
      levels: Object.fromEntries(words.map(({ word, level }) => [word.trim(), level])),
    }),
  };
}

export interface Offers {
  /** Pointers at lists of objects. */
  readonly lists: readonly string[];
  /** Placeholders, each with the value that it stands for in the first item. */
  readonly values: readonly { readonly placeholder: string; readonly value: string }[];
}

const mostOffers = 40;
const deepest = 6;

/** The choices that a payload offers to a mapping with these `items`; none if it is not JSON. */
export function offersOf(payload: string, items: string | undefined): Offers {
  let whole: unknown;
  try {
    whole = JSON.parse(payload);
  } catch {
    return { lists: [], values: [] };
  }
  const lists: string[] = [];
  const leaves = leavesOf(whole, lists);
  if (items === undefined || (items === '' && !Array.isArray(whole)))
    return { lists, values: leaves.slice(0, mostOffers).map(placeholderOf('')) };
  const first = leaves.filter(({ pointer }) => pointer.startsWith(`${items}/0/`));
  const outside = leaves.filter(({ pointer }) => !pointer.startsWith(`${items}/`));
  const own = first.map((leaf) => ({ ...leaf, pointer: leaf.pointer.slice(items.length + 2) }));
  const values = [...own.map(placeholderOf('')), ...outside.map(placeholderOf('^'))];
  return { lists, values: values.slice(0, mostOffers) };
}

interface Leaf {
  readonly pointer: string;
  readonly value: string;
}

const placeholderOf =
  (sign: '' | '^') =>
  ({ pointer, value }: Leaf) => ({ placeholder: `{${sign}${pointer}}`, value });

/** Values by their pointers (RFC 6901); of a list, those of its first element. Braces cannot stand in a placeholder. */
function leavesOf(value: unknown, lists: string[], pointer = '', depth = 0): Leaf[] {
  if (value === null || depth > deepest || /[{}]/.test(pointer)) return [];
  if (typeof value !== 'object') return [{ pointer, value: String(value) }];
  if (Array.isArray(value)) {
    if (typeof value[0] === 'object' && value[0] !== null && pointer !== '') lists.push(pointer);
    return leavesOf(value[0] ?? null, lists, `${pointer}/0`, depth + 1);
  }
  return Object.entries(value).flatMap(([name, part]) =>
    leavesOf(part, lists, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, depth + 1),
  );
}
