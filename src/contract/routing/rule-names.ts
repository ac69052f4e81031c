/** Which levels and tokens rules name, without schemas: pages load this file. */
import type { Token } from '../people/token.ts';
import type { Level } from './level.ts';
import type { RuleConditions, RuleSpec, RuleWhen } from './rule.ts';

/** A name in a rule's conditions that no level or usable token has: it matches nothing. */
export interface UnmatchedName {
  /** As in `when.token` or `when.not.level`. */
  readonly place: string;
  /** Which of the place's values, counted from 0. */
  readonly at: number;
  readonly kind: 'level' | 'token';
  readonly name: string;
  readonly isRevoked: boolean;
}

/** Made once for all rules: a tenant may have thousands of tokens. */
export interface KnownNames {
  readonly levels: ReadonlySet<string>;
  /** Names and ids. */
  readonly tokens: ReadonlySet<string>;
  /** Those of tokens that are not revoked. */
  readonly usableTokens: ReadonlySet<string>;
  readonly usableTokenNames: ReadonlySet<string>;
}

export function knownNames(
  levels: Iterable<Pick<Level, 'name'>>,
  tokens: readonly Pick<Token, 'id' | 'name' | 'revokedAt'>[],
): KnownNames {
  const usable = tokens.filter(({ revokedAt }) => revokedAt === null);
  const namesAndIds = (some: typeof tokens) => new Set(some.flatMap(({ id, name }) => [id, name]));
  return {
    levels: new Set(Array.from(levels, ({ name }) => name)),
    tokens: namesAndIds(tokens),
    usableTokens: namesAndIds(usable),
    usableTokenNames: new Set(usable.map(({ name }) => name)),
  };
}

/** The senders that are part of Belfry; conditions name them like a token, as in belfry:escalation. */
export const ownSenderNames = ['escalation', 'expectation', 'panel'] as const;
const ownSenderIds: ReadonlySet<string> = new Set(ownSenderNames.map((name) => `belfry:${name}`));

export function unmatchedNames(when: RuleWhen, known: KnownNames): readonly UnmatchedName[] {
  const namesIn = (place: string, { level = [], token = [] }: RuleConditions): UnmatchedName[] => [
    ...level.map((name, at) => ({
      place: `${place}.level`,
      at,
      kind: 'level' as const,
      name,
      isRevoked: false,
    })),
    ...token.map((name, at) => ({
      ...{ place: `${place}.token`, at, kind: 'token' as const, name },
      isRevoked: known.tokens.has(name),
    })),
  ];
  return [...namesIn('when', when), ...namesIn('when.not', when.not ?? {})].filter(({ kind, name }) =>
    kind === 'level' ? !known.levels.has(name) : !known.usableTokens.has(name) && !ownSenderIds.has(name),
  );
}

/** The rules that name a level in their conditions, or set it. */
export function rulesThatName<Rule extends Pick<RuleSpec, 'when' | 'then'>>(
  level: string,
  rules: readonly Rule[],
): readonly Rule[] {
  const isIn = (when: RuleConditions | undefined) => when?.minLevel === level || when?.level?.includes(level);
  const isSet = ({ setLevel, escalate }: RuleSpec['then']) =>
    setLevel === level || escalate?.some((step) => step.setLevel === level);
  return rules.filter(({ when, then }) => isIn(when) || isIn(when.not) || isSet(then));
}

/** The rules that name a token in their conditions. */
export function rulesThatNameToken<Rule extends Pick<RuleSpec, 'when'>>(
  { id, name }: Pick<Token, 'id' | 'name'>,
  rules: readonly Rule[],
): readonly Rule[] {
  const isIn = (when: RuleConditions | undefined) =>
    when?.token?.some((each) => each === id || each === name);
  return rules.filter(({ when }) => isIn(when) || isIn(when.not));
}
