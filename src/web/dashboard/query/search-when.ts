/** A search as the conditions of a rule, as far as a rule can say it. */
import { type PatternFieldName, patternFieldNames } from '#contract/history/fields.ts';
import { listedLabels } from '#contract/history/labels.ts';
import { limits } from '#contract/limits.ts';
import type { RuleConditions, RuleWhen } from '#contract/routing/rule.ts';
import type { Ranks } from './mute-when.ts';
import { readTree, type SearchTerm, type SearchTree, type SearchValue } from './search-tree.ts';

/**
 * Why the conditions find something else than a part of the search: `words` and `title` are there in another way, all
 * others are left out.
 */
export type Difference =
  | 'bareWildcard'
  | 'form'
  | 'labels'
  | 'literal'
  | 'or'
  | 'routing'
  | 'state'
  | 'time'
  | 'title'
  | 'tokens'
  | 'twice'
  | 'wildcard'
  | 'words';

export interface SearchConditions {
  readonly when: RuleWhen;
  /** What a rule says differently, or not at all: the parts of the search as typed, in its order. */
  readonly differences: readonly { readonly part: string; readonly why: Difference }[];
}

type Writable = { -readonly [K in keyof RuleConditions]: RuleConditions[K] };

/**
 * The conditions that a rule can take from a search. A part that must hold and that a rule cannot say is left out, so the rule
 * then matches more than the search; `differences` names each of them.
 *
 * @param levels Of the tenant.
 */
export function whenOfSearch(q: string, levels: Ranks): SearchConditions {
  const tree = readTree(q);
  if (!tree) return { when: {}, differences: q.trim() === '' ? [] : [{ part: q.trim(), why: 'form' }] };
  return new Conditions(levels).of(tree);
}

/** One condition: a field with values, of which one must be there. */
type Condition =
  | { readonly field: 'ip' | 'sourceIp' | 'level' | 'token' | PatternFieldName; readonly values: string[] }
  | { readonly field: 'minLevel'; readonly value: string }
  | { readonly field: 'label'; readonly name: string; readonly values: string[] }
  | { readonly field: 'title' | 'message'; readonly values: string[] };

class Conditions {
  readonly #levels: Ranks;
  readonly #when: Writable = {};
  readonly #not: Writable = {};
  /** The texts that must all be there, each a list of which one must be. */
  readonly #texts = {
    title: [] as { values: string[]; part: string }[],
    message: [] as { values: string[]; part: string }[],
  };
  readonly #differences: { part: string; why: Difference }[] = [];

  constructor(levels: Ranks) {
    this.#levels = levels;
  }

  of(tree: SearchTree): SearchConditions {
    this.#add(tree, false);
    for (const field of ['title', 'message'] as const) this.#addTexts(field);
    const not = this.#not;
    return {
      when: { ...this.#when, ...(Object.keys(not).length > 0 && { not }) },
      differences: this.#differences,
    };
  }

  #differs(part: string, why: Difference): void {
    this.#differences.push({ part, why });
  }

  #add(tree: SearchTree, negated: boolean): void {
    if (tree.kind === 'term') return this.#addTerm(tree, negated, negated ? `-${tree.text}` : tree.text);
    if (tree.kind === 'not') return this.#add(tree.of, !negated);
    if ((tree.kind === 'and') !== negated) {
      for (const part of tree.of) this.#add(part, negated);
      return;
    }
    const part = negated ? `-(${tree.text.replace(/^\((.*)\)$/s, '$1')})` : tree.text;
    const joined = negated ? undefined : joinedTerm(tree);
    if (joined) this.#addTerm(joined, false, part);
    else this.#differs(part, 'or');
  }

  #addTerm(term: SearchTerm, negated: boolean, part: string): void {
    const isText = term.key === '' || term.key === 'title' || term.key === 'message';
    const wrong = isText ? wrongText(term.values) : undefined;
    const read = wrong ?? (term.key === '' ? freeText(term, negated) : this.#read(term));
    if (typeof read === 'string') return this.#differs(part, read);
    for (const condition of read) {
      const why = negated ? this.#exclude(condition) : this.#include(condition, part);
      if (why) return this.#differs(part, why);
    }
    if (term.key === '' && !negated) this.#differs(part, 'title');
    else if (isText) this.#differs(part, 'words');
  }

  #read({ key, values }: SearchTerm): Condition[] | Difference {
    const texts = values.map(({ text }) => text);
    switch (key) {
      case 'ip':
        return [{ field: 'ip', values: texts }];
      case 'source':
        return [{ field: 'sourceIp', values: texts }];
      case 'level':
        return this.#levelsOf(texts);
      case 'token':
        return values.some(({ hasWildcard }) => hasWildcard) ? 'tokens' : [{ field: 'token', values: texts }];
      case 'label':
        return labelsOf(values);
      case 'title':
      case 'message':
        return [{ field: key, values: values.map(wordsOf) }];
      case 'is':
        return 'state';
      case 'since':
      case 'after':
      case 'before':
        return 'time';
      case 'panel':
      case 'rule':
        return 'routing';
    }
    const field = patternFieldNames.find((name) => name === key);
    if (!field) return 'form';
    return values.some(({ hasLiteral }) => hasLiteral) ? 'literal' : [{ field, values: texts }];
  }

  /** `>=` is the condition of its own; other comparisons are the levels that pass now. */
  #levelsOf(texts: readonly string[]): Condition[] | Difference {
    const [only = ''] = texts;
    if (texts.length === 1 && only.startsWith('>='))
      return [{ field: 'minLevel', value: only.slice(2).trim().toLowerCase() }];
    const values = texts.flatMap((text) => {
      const [, comparison = '', typed = ''] = /^([<>]=?|=)?\s*(.*)$/s.exec(text) ?? [];
      const name = typed.toLowerCase();
      if (comparison === '' || comparison === '=') return name;
      const than = this.#levels.get(name)?.rank ?? Number.NaN;
      return [...this.#levels].flatMap(([level, { rank }]) => (passes(comparison, rank, than) ? level : []));
    });
    return values.length === 0 ? 'form' : [{ field: 'level', values: unique(values) }];
  }

  /** All conditions hold, and each field has one, so a second condition of a field is not possible. */
  #include(condition: Condition, part: string): Difference | undefined {
    switch (condition.field) {
      case 'title':
      case 'message':
        this.#texts[condition.field].push({ values: condition.values, part });
        return undefined;
      case 'minLevel':
        if (this.#when.minLevel !== undefined && this.#when.minLevel !== condition.value) return 'twice';
        this.#when.minLevel = condition.value;
        return undefined;
      case 'label': {
        const { name, values } = condition;
        const known = nameIn(this.#when.labels, name);
        if (known !== undefined) return isSame(this.#when.labels?.[known], values) ? undefined : 'twice';
        this.#when.labels = { ...this.#when.labels, [name]: values };
        return undefined;
      }
      default: {
        const known = this.#when[condition.field];
        if (known) return isSame(known, condition.values) ? undefined : 'twice';
        this.#when[condition.field] = condition.values;
        return undefined;
      }
    }
  }

  /** None of the values of a field may be there, so its lists are joined. */
  #exclude(condition: Condition): Difference | undefined {
    const not = this.#not;
    switch (condition.field) {
      case 'title':
      case 'message': {
        const known = not[condition.field];
        const before = known && 'contains' in known ? [known.contains].flat() : [];
        not[condition.field] = { contains: unique([...before, ...condition.values]) };
        return undefined;
      }
      case 'minLevel':
        if (not.minLevel !== undefined && not.minLevel !== condition.value) return 'twice';
        not.minLevel = condition.value;
        return undefined;
      case 'label': {
        const { name, values } = condition;
        const known = nameIn(not.labels, name);
        // Excluded labels of several names exclude only what has all of them.
        if (not.labels && known === undefined) return 'labels';
        const before = known === undefined ? [] : (not.labels?.[known] ?? []);
        not.labels = { [known ?? name]: unique([...before, ...values]) };
        return undefined;
      }
      default:
        not[condition.field] = unique([...(not[condition.field] ?? []), ...condition.values]);
        return undefined;
    }
  }

  /** Several texts of a field are one list of globs: the texts in every order. */
  #addTexts(field: 'title' | 'message'): void {
    const [first, ...others] = this.#texts[field];
    if (!first) return;
    const texts = [first, ...others].map(({ values }) => values);
    const single = texts.flatMap((values) => (values.length === 1 ? values : []));
    const canJoin = single.length === texts.length && texts.length <= mostInAnyOrder;
    if (others.length > 0 && canJoin && !single.some((text) => /[*?]/.test(text))) {
      this.#when[field] = { glob: ordersOf(unique(single)).map((order) => `*${order.join('*')}*`) };
      return;
    }
    this.#when[field] = { contains: oneOrMany(first.values) };
    for (const { part } of others) {
      const at = this.#differences.findIndex((each) => each.part === part);
      this.#differences[at] = { part, why: 'twice' };
    }
  }
}

/** Three texts have 6 orders, four would have 24. */
const mostInAnyOrder = 3;

const ordersOf = (texts: readonly string[]): string[][] =>
  texts.length < 2
    ? [[...texts]]
    : texts.flatMap((text, at) => ordersOf(texts.toSpliced(at, 1)).map((rest) => [text, ...rest]));

const oneOrMany = (values: string[]) => (values.length === 1 ? (values[0] ?? '') : values);
const unique = (values: readonly string[]) => [...new Set(values)];
const isSame = (some: readonly string[] | undefined, others: readonly string[]) =>
  some?.length === others.length && others.every((value) => some.includes(value));
/** The name as it was written first; case does not count. */
const nameIn = (labels: RuleConditions['labels'], name: string) =>
  Object.keys(labels ?? {}).find((known) => known.toLowerCase() === name.toLowerCase());

/** Alternatives of one field as one term with a list; undefined for different fields. */
function joinedTerm(tree: SearchTree): SearchTerm | undefined {
  if (tree.kind === 'term') return tree;
  if (tree.kind !== 'or') return undefined;
  const terms = tree.of.map(joinedTerm);
  const [first] = terms;
  if (!first || terms.some((term) => term?.key !== first.key)) return undefined;
  return { ...first, values: terms.flatMap((term) => term?.values ?? []), text: tree.text };
}

/** A word is in the title or in the message. A rule can exclude both, but not require one of the two. */
function freeText({ values }: SearchTerm, negated: boolean): Condition[] {
  const texts = values.map(wordsOf);
  const title = { field: 'title', values: texts } as const;
  return negated ? [title, { field: 'message', values: texts }] : [title];
}

/** Without the `*` that ends a word, because a rule finds the beginning of a word anyway. */
const wordsOf = ({ text, hasWildcard, isQuoted }: SearchValue) =>
  hasWildcard && !isQuoted ? text.replace(/\*$/, '') : text;

/** Why a rule cannot find one of the texts. */
function wrongText(values: readonly SearchValue[]): Difference | undefined {
  if (values.some((value) => wordsOf(value) === '')) return 'bareWildcard';
  const hasOther = (value: SearchValue) =>
    value.hasWildcard && !value.isQuoted && /[*?]/.test(wordsOf(value));
  return values.some(hasOther) ? 'wildcard' : undefined;
}

/** Values of one label are one condition. */
function labelsOf(values: readonly SearchValue[]): Condition[] | Difference {
  if (values.some(({ hasLiteral }) => hasLiteral)) return 'literal';
  const labels = listedLabels(values.map(({ text }) => text));
  const [{ name } = { name: '' }] = labels;
  if (!labels.every((each) => limits.labelNamePattern.test(each.name))) return 'form';
  if (!labels.every((each) => each.name.toLowerCase() === name.toLowerCase())) return 'or';
  return [{ field: 'label', name, values: unique(labels.map(({ value }) => value)) }];
}

function passes(comparison: string, rank: number, than: number): boolean {
  if (comparison === '>') return rank > than;
  if (comparison === '<') return rank < than;
  return comparison === '>=' ? rank >= than : rank <= than;
}
