/** Finds the rules that can match a notification without looking at the others. */
import type { AddressRange } from '../addresses.ts';
import type { Condition, Prefilter } from './conditions.ts';
import { AddressTable, type Gram, gramsOf, type Hit, type Posting, TextTable } from './posting.ts';
import type { AddressField, EvaluationContext, TextField } from './subject.ts';

const textFields = ['host', 'key', 'title', 'message'] as const satisfies readonly TextField[];
const addressFields = ['ip', 'sourceIp'] as const satisfies readonly AddressField[];

/** How much of the traffic one such need lets through, next to the others: a level much, an exact name little. */
const shares = { is: 1, starts: 2, ends: 2, contains: 4, within: 3, level: 20 } as const;

export interface IndexedRule {
  /** Its place in the walk. */
  readonly ordinal: number;
  readonly conditions: readonly Condition[];
}

/**
 * The rules of a set by what they demand. Each rule is filed under the one of its conditions that the fewest rules and
 * the least traffic share; a rule that demands nothing that can be looked up is a candidate for every notification.
 */
export class RuleIndex {
  readonly #always: number[] = [];
  readonly #texts: Record<'level' | 'token' | TextField, TextTable> = {
    level: new TextTable(),
    token: new TextTable(),
    host: new TextTable(),
    key: new TextTable(),
    title: new TextTable(),
    message: new TextTable(),
  };
  readonly #addresses: Record<AddressField, AddressTable> = {
    ip: new AddressTable(),
    sourceIp: new AddressTable(),
  };
  #round = 0;
  #lists: (readonly number[])[] = [];
  readonly #hit: Hit = (posting) => this.#meet(posting);

  /** Makes the index of rules given in the order of the walk, one rule a step. */
  static *build(rules: readonly IndexedRule[]): Generator<undefined, RuleIndex> {
    const index = new RuleIndex();
    const selectivity = new Selectivity();
    for (const { conditions } of rules) {
      selectivity.add(conditions);
      yield;
    }
    for (const { ordinal, conditions } of rules) {
      const prefilters = selectivity.mostSelective(conditions);
      if (prefilters) for (const prefilter of prefilters) index.#file(prefilter, ordinal, selectivity);
      else index.#always.push(ordinal);
      yield;
    }
    return index;
  }

  /** The rules that can match, in order, each once. Every other rule has a condition that fails. */
  candidates(context: EvaluationContext): Candidates {
    const { subject } = context;
    this.#round += 1;
    this.#lists = this.#always.length > 0 ? [this.#always] : [];
    this.#texts.level.find(subject.level, this.#hit);
    this.#texts.token.find(subject.tokenId, this.#hit);
    this.#texts.token.find(subject.tokenName, this.#hit);
    for (const field of textFields) {
      const text = this.#texts[field].isEmpty ? null : context.folded(field);
      if (text !== null) this.#texts[field].find(text, this.#hit);
    }
    for (const field of addressFields) {
      const key = this.#addresses[field].isEmpty ? null : context.address(field);
      if (key !== null) this.#addresses[field].find(key, this.#hit);
    }
    return new Candidates(this.#lists);
  }

  #meet(posting: Posting): void {
    if (posting.round === this.#round) return;
    posting.round = this.#round;
    this.#lists.push(posting.ordinals);
  }

  #file(prefilter: Prefilter, ordinal: number, selectivity: Selectivity): void {
    if (prefilter.how === 'within') {
      this.#addresses[prefilter.field].add(prefilter.range, ordinal);
      return;
    }
    const table = this.#texts[prefilter.field];
    if (prefilter.how === 'is') table.addIs(prefilter.text, ordinal);
    else if (prefilter.how === 'starts') table.addStarts(prefilter.text, ordinal);
    else if (prefilter.how === 'ends') table.addEnds(prefilter.text, ordinal);
    else table.addGram(selectivity.rarestGram(prefilter.field, prefilter.text), ordinal);
  }
}

/** With more lists than this, sorting them into one is cheaper than asking each for its next. */
const fewLists = 8;

/** Several lists of rules as one, in order, each rule once. */
export class Candidates {
  readonly #lists: readonly (readonly number[])[];
  readonly #at: number[];

  constructor(lists: readonly (readonly number[])[]) {
    this.#lists =
      lists.length > fewLists ? [Int32Array.from(lists.flat()).sort()].map((all) => Array.from(all)) : lists;
    this.#at = new Array(this.#lists.length).fill(0);
  }

  /** The next rule; undefined when there are no more. */
  next(): number | undefined {
    let least: number | undefined;
    for (let i = 0; i < this.#lists.length; i++) {
      const head = this.#lists[i]?.[this.#at[i] as number];
      if (head !== undefined && (least === undefined || head < least)) least = head;
    }
    if (least === undefined) return undefined;
    for (let i = 0; i < this.#lists.length; i++) {
      const list = this.#lists[i] as readonly number[];
      while (list[this.#at[i] as number] === least) this.#at[i] = (this.#at[i] as number) + 1;
    }
    return least;
  }
}

/** How many rules share each need. */
class Selectivity {
  readonly #counts = new Map<string, number>();
  readonly #grams = new Map<string, number>();

  add(conditions: readonly Condition[]): void {
    for (const { prefilters = [] } of conditions) for (const prefilter of prefilters) this.#count(prefilter);
  }

  #count(prefilter: Prefilter): void {
    increment(this.#counts, nameOf(prefilter));
    if (prefilter.how !== 'contains') return;
    for (const gram of gramsOf(prefilter.text)) increment(this.#grams, gramName(prefilter.field, gram));
  }

  /** The needs of the condition to file a rule under; undefined when none has any. */
  mostSelective(conditions: readonly Condition[]): readonly Prefilter[] | undefined {
    let best: readonly Prefilter[] | undefined;
    let bestCost = Number.POSITIVE_INFINITY;
    for (const { prefilters } of conditions) {
      const cost =
        prefilters?.reduce((sum, prefilter) => sum + this.#cost(prefilter), 0) ?? Number.POSITIVE_INFINITY;
      if (cost < bestCost) {
        bestCost = cost;
        best = prefilters;
      }
    }
    return best;
  }

  #cost(prefilter: Prefilter): number {
    if (prefilter.how === 'contains')
      return (
        shares.contains * this.#gramCount(prefilter.field, this.rarestGram(prefilter.field, prefilter.text))
      );
    const share =
      prefilter.field === 'level' ? shares.level : shares[isOneAddress(prefilter) ? 'is' : prefilter.how];
    return share * (this.#counts.get(nameOf(prefilter)) ?? 0);
  }

  rarestGram(field: string, text: string): Gram {
    let rarest: Gram | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const gram of gramsOf(text)) {
      const count = this.#gramCount(field, gram);
      if (count < fewest) {
        fewest = count;
        rarest = gram;
      }
    }
    if (!rarest) throw new RangeError(`"${text}" is too short to be looked for`);
    return rarest;
  }

  #gramCount(field: string, gram: Gram): number {
    return this.#grams.get(gramName(field, gram)) ?? 0;
  }
}

const gramName = (field: string, { length, hash }: Gram) => `${field} ${length} ${hash}`;

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const isOneAddress = (prefilter: Prefilter) => prefilter.how === 'within' && sameAddress(prefilter.range);
const sameAddress = ({ low, high }: AddressRange) => low.every((byte, i) => byte === high[i]);

function nameOf(prefilter: Prefilter): string {
  const what =
    prefilter.how === 'within'
      ? `${prefilter.range.low.join('.')}-${prefilter.range.high.join('.')}`
      : prefilter.text;
  return `${prefilter.field} ${prefilter.how} ${what}`;
}
