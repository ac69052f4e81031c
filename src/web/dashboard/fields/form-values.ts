import { isPlainObject } from '#contract/plain-object.ts';

/** The value of a form field, and how to change it. */
export interface Field<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

/** A field of a form by its path, and what is wrong with it. */
export interface RefusedField {
  readonly path: string;
  readonly text: string;
}

/** What people change at the same time: a field that a person did not touch keeps what others saved. */

/**
 * What was typed, on what is saved now. Records are merged by field; of a list or a text that two people changed, `typed` counts.
 * @param base What `typed` began with.
 */
export function rebase<Values>(base: Values, typed: Values, saved: Values): Values {
  if (!isPlainObject(base) || !isPlainObject(typed) || !isPlainObject(saved))
    return isSame(base, typed) ? saved : typed;
  const fields = Object.keys({ ...saved, ...typed });
  return Object.fromEntries(
    fields.map((field) => [field, rebase(base[field], typed[field], saved[field])]),
  ) as Values;
}

/** The fields of `after` that differ: what a PATCH needs. */
export function changesOf<Body extends object>(before: Body, after: Body): Partial<Body> {
  const changed = Object.entries(after).filter(
    ([field, value]) => !isSame(before[field as keyof Body], value),
  );
  return Object.fromEntries(changed) as Partial<Body>;
}

/** Of values that JSON can hold. */
export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
