/**
 * Finds the rules that can match a notification, without testing every rule.
 *
 * A rule is filed under one key for each prefilter of one of its conditions: a hash of a text that a notification must have
 * in a field. Of several conditions, and of the parts of a text, the index takes those that the fewest rules share. Two texts
 * with the same hash only add candidates, whose conditions then fail. A rule without prefilters is always a candidate.
 */

import { labelPair } from '#contract/history/labels.ts';
import { bitsOf } from '../addresses.ts';
import { type Condition, containedChars, type Prefilter } from './conditions.ts';
import type { EvaluationContext } from './subject.ts';

export interface IndexedRule {
  /** Its position in the order of evaluation. */
  readonly ordinal: number;
  readonly conditions: readonly Condition[];
}

/** A field and a place in its text, with the lengths of the texts that rules are filed under there. */
interface Place {
  readonly field: Prefilter['field'];
  readonly how: Prefilter['how'];
  readonly seed: number;
  readonly lengths: Set<number>;
}

/** The hash of a text of this length at a place. */
interface Key {
  readonly key: number;
  readonly place: Place;
  readonly length: number;
}

/** Of a long text that a notification must contain, some parts from its beginning are enough to choose from. */
const mostParts = 64;

export class RuleIndex {
  readonly #rest: number[] = [];
  readonly #places = new Map<string, Place>();
  readonly #byKey = new Map<number, number[]>();

  /** Builds the index from rules in the order of evaluation. Yields after each rule. */
  static *build(rules: readonly IndexedRule[]): Generator<undefined, RuleIndex> {
    const index = new RuleIndex();
    const sharedBy = new Map<number, number>();
    for (const { conditions } of rules) {
      for (const { prefilters = [] } of conditions) {
        for (const { key } of prefilters.flatMap((prefilter) => index.#keysOf(prefilter)))
          sharedBy.set(key, (sharedBy.get(key) ?? 0) + 1);
      }
      yield;
    }
    for (const { ordinal, conditions } of rules) {
      index.#file(ordinal, index.#leastShared(conditions, sharedBy));
      yield;
    }
    return index;
  }

  /** The ordinals of the rules that can match, ascending, each once. Every other rule has a condition that fails. */
  candidates(context: EvaluationContext): Candidates {
    const lists = new Set<readonly number[]>();
    if (this.#rest.length > 0) lists.add(this.#rest);
    for (const { field, how, seed, lengths } of this.#places.values()) {
      for (const text of textsOf(field, context)) {
        for (const length of lengths) {
          if (length > text.length || (how === 'is' && length < text.length)) continue;
          const last = text.length - length;
          const to = how === 'is' || how === 'starts' ? 0 : last;
          for (let at = how === 'ends' ? last : 0; at <= to; at++) {
            const list = this.#byKey.get(hash(seed, text, at, length));
            if (list) lists.add(list);
          }
        }
      }
    }
    return new Candidates([...lists]);
  }

  /** The keys of a prefilter: a notification that passes it has all of them. */
  #keysOf({ field, how, text }: Prefilter): Key[] {
    const name = `${field} ${how}`;
    const place = this.#places.get(name) ?? { field, how, seed: this.#places.size, lengths: new Set() };
    this.#places.set(name, place);
    const length = how === 'contains' ? containedChars : text.length;
    const count = Math.min(mostParts, text.length - length + 1);
    return Array.from({ length: count }, (_, at) => ({
      key: hash(place.seed, text, at, length),
      place,
      length,
    }));
  }

  /** A key for each prefilter of one condition; undefined if no condition has prefilters. */
  #leastShared(
    conditions: readonly Condition[],
    sharedBy: ReadonlyMap<number, number>,
  ): readonly Key[] | undefined {
    const uses = ({ key }: Key) => sharedBy.get(key) ?? 0;
    let best: readonly Key[] | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const { prefilters } of conditions) {
      if (!prefilters) continue;
      const keys = prefilters.map((prefilter) =>
        this.#keysOf(prefilter).reduce((least, key) => (uses(key) < uses(least) ? key : least)),
      );
      const sum = keys.reduce((total, key) => total + uses(key), 0);
      // Of equals the later: more notifications have the same level or token than the same host or words.
      if (sum > fewest) continue;
      fewest = sum;
      best = keys;
    }
    return best;
  }

  #file(ordinal: number, keys: readonly Key[] | undefined): void {
    if (!keys) this.#rest.push(ordinal);
    for (const { key, place, length } of keys ?? []) {
      place.lengths.add(length);
      const list = this.#byKey.get(key);
      if (!list) this.#byKey.set(key, [ordinal]);
      else if (list.at(-1) !== ordinal) list.push(ordinal);
    }
  }
}

function textsOf(field: Prefilter['field'], context: EvaluationContext): readonly string[] {
  const { level, tokenId, tokenName, origin } = context.subject;
  switch (field) {
    case 'level':
      return [level];
    case 'token':
      return origin === undefined ? [tokenId, tokenName] : [tokenId, tokenName, origin];
    case 'label':
      return context.labels.map(([name, value]) => labelPair(name, value));
    case 'ip':
    case 'sourceIp': {
      const key = context.address(field);
      return key === null ? [] : [bitsOf(key)];
    }
    default: {
      const text = context.folded(field);
      return text === null ? [] : [text];
    }
  }
}

function hash(seed: number, text: string, at: number, length: number): number {
  let sum = seed;
  for (let i = at; i < at + length; i++) sum = Math.imul(sum, 0x01000193) ^ text.charCodeAt(i);
  return (sum ^ (sum >>> 15)) & 0x3fffffff;
}

/** With more lists than this, one sort is cheaper than a merge that reads the head of every list. */
const maxMergedLists = 8;

/** Merges sorted lists of ordinals: ascending, each ordinal once. */
export class Candidates {
  readonly #lists: readonly (readonly number[])[];
  readonly #offsets: number[];

  constructor(lists: readonly (readonly number[])[]) {
    this.#lists =
      lists.length > maxMergedLists
        ? [Int32Array.from(lists.flat()).sort()].map((all) => Array.from(all))
        : lists;
    this.#offsets = new Array(this.#lists.length).fill(0);
  }

  /** The next ordinal; undefined at the end. */
  next(): number | undefined {
    let lowest: number | undefined;
    for (let i = 0; i < this.#lists.length; i++) {
      const head = this.#lists[i]?.[this.#offsets[i] as number];
      if (head !== undefined && (lowest === undefined || head < lowest)) lowest = head;
    }
    if (lowest === undefined) return undefined;
    for (let i = 0; i < this.#lists.length; i++) {
      const list = this.#lists[i] as readonly number[];
      while (list[this.#offsets[i] as number] === lowest) this.#offsets[i] = (this.#offsets[i] as number) + 1;
    }
    return lowest;
  }
}
