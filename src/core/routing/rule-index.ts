/** Finds the rules that can match a notification, without testing every rule. */
import type { AddressRange } from '../addresses.ts';
import type { Condition, Prefilter } from './conditions.ts';
import { AddressTable, type Gram, gramsOf, type OnPosting, type Posting, TextTable } from './posting.ts';
import type { AddressField, EvaluationContext, TextField } from './subject.ts';

const textFields = ['host', 'key', 'title', 'message'] as const satisfies readonly TextField[];
const addressFields = ['ip', 'sourceIp'] as const satisfies readonly AddressField[];

/** Estimated share of the notifications that pass a prefilter of each kind, relative to each other. */
const passShares = { is: 1, starts: 2, ends: 2, contains: 4, within: 3, level: 20 } as const;

export interface IndexedRule {
  /** Its position in the order of evaluation. */
  readonly ordinal: number;
  readonly conditions: readonly Condition[];
}

/**
 * Maps prefilters to rules. Each rule is stored under the prefilters of its most selective condition: the one that the
 * fewest rules share and the fewest notifications pass. A rule without prefilters is a candidate for every notification.
 */
export class RuleIndex {
  readonly #unfiltered: number[] = [];
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
  #lookup = 0;
  #lists: (readonly number[])[] = [];
  readonly #collect: OnPosting = (posting) => this.#addOnce(posting);

  /** Builds the index from rules in the order of evaluation. Yields after each rule. */
  static *build(rules: readonly IndexedRule[]): Generator<undefined, RuleIndex> {
    const index = new RuleIndex();
    const selectivity = new Selectivity();
    for (const { conditions } of rules) {
      selectivity.add(conditions);
      yield;
    }
    for (const { ordinal, conditions } of rules) {
      const prefilters = selectivity.mostSelective(conditions);
      if (prefilters) for (const prefilter of prefilters) index.#insert(prefilter, ordinal, selectivity);
      else index.#unfiltered.push(ordinal);
      yield;
    }
    return index;
  }

  /** The ordinals of the rules that can match, ascending, each once. Every other rule has a condition that fails. */
  candidates(context: EvaluationContext): Candidates {
    const { subject } = context;
    this.#lookup += 1;
    this.#lists = this.#unfiltered.length > 0 ? [this.#unfiltered] : [];
    this.#texts.level.find(subject.level, this.#collect);
    this.#texts.token.find(subject.tokenId, this.#collect);
    this.#texts.token.find(subject.tokenName, this.#collect);
    if (subject.origin !== undefined) this.#texts.token.find(subject.origin, this.#collect);
    for (const field of textFields) {
      const text = this.#texts[field].isEmpty ? null : context.folded(field);
      if (text !== null) this.#texts[field].find(text, this.#collect);
    }
    for (const field of addressFields) {
      const key = this.#addresses[field].isEmpty ? null : context.address(field);
      if (key !== null) this.#addresses[field].find(key, this.#collect);
    }
    return new Candidates(this.#lists);
  }

  #addOnce(posting: Posting): void {
    if (posting.lastLookup === this.#lookup) return;
    posting.lastLookup = this.#lookup;
    this.#lists.push(posting.ordinals);
  }

  #insert(prefilter: Prefilter, ordinal: number, selectivity: Selectivity): void {
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

/** Counts how many rules have each prefilter, to find the most selective one of a rule. */
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

  /** The prefilters of the most selective condition; undefined if no condition has prefilters. */
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
        passShares.contains *
        this.#gramCount(prefilter.field, this.rarestGram(prefilter.field, prefilter.text))
      );
    const share =
      prefilter.field === 'level'
        ? passShares.level
        : passShares[isOneAddress(prefilter) ? 'is' : prefilter.how];
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
    if (!rarest) throw new RangeError(`"${text}" is too short for the index`);
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
  const value =
    prefilter.how === 'within'
      ? `${prefilter.range.low.join('.')}-${prefilter.range.high.join('.')}`
      : prefilter.text;
  return `${prefilter.field} ${prefilter.how} ${value}`;
}
