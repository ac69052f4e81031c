/** One variable of the environment, and how it is declared. */
import type { Reader } from './values.ts';

export interface Variable<T, D extends string | undefined> {
  readonly read: Reader<T>;
  /** The text of the default; undefined: not set. */
  readonly default: D;
  /** Never printed, and has a `…_FILE` form. */
  readonly secret: boolean;
  /** The part of a secret that may be printed. */
  readonly show?: (text: string) => string;
  readonly about: string;
}

export const setting = <T>(value: string, read: Reader<T>, about: string): Variable<T, string> => ({
  read,
  default: value,
  secret: false,
  about,
});
export const optional = <T>(read: Reader<T>, about: string): Variable<T, undefined> => ({
  read,
  default: undefined,
  secret: false,
  about,
});
export const optionalSecret = <T>(read: Reader<T>, about: string): Variable<T, undefined> => ({
  ...optional(read, about),
  secret: true,
});

/** The values of some variables. */
export type SettingsOf<Variables> = {
  readonly [N in keyof Variables]: Variables[N] extends Variable<infer T, infer D>
    ? D extends string
      ? T
      : T | undefined
    : never;
};
