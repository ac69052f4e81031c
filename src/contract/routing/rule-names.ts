/** Which levels and tokens rules name, without schemas: pages load this file. */
import type { Token } from '../people/token.ts';
import type { Level } from './level.ts';
import type { RuleConditions, RuleThen, RuleWhen } from './rule.ts';

/** What has conditions, of a rule. */
export interface NamingRule {
  readonly when?: RuleWhen | undefined;
  readonly then?: Pick<RuleThen, 'suppress'> | undefined;
}

/** A name in a rule's conditions that no level or usable token has: it matches nothing. */
export interface UnmatchedName {
  /** As in `when.token`, `when.not.level` or `then.suppress.when.level`. */
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
export const ownSenderNames = ['escalation', 'expectation', 'on-call', 'panel', 'test'] as const;
const ownSenderIds: ReadonlySet<string> = new Set(ownSenderNames.map((name) => `belfry:${name}`));

/** All conditions of a rule, by their place: those that it matches by, those of what it suppresses, and what is under `not`. */
function conditionsOf({ when = {}, then }: NamingRule): readonly (readonly [string, RuleConditions])[] {
  const all = [['when', when] as const, ['then.suppress.when', then?.suppress?.when ?? {}] as const];
  return all.flatMap(([place, given]) => [
    [place, given],
    [`${place}.not`, given.not ?? {}],
  ]);
}

/** Whether a rule's conditions name a token, so that tokens must be read. */
export const namesTokens = (rule: NamingRule): boolean =>
  conditionsOf(rule).some(([, { token }]) => token !== undefined);

export function unmatchedNames(rule: NamingRule, known: KnownNames): readonly UnmatchedName[] {
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
  return conditionsOf(rule)
    .flatMap(([place, given]) => namesIn(place, given))
    .filter(({ kind, name }) =>
      kind === 'level' ? !known.levels.has(name) : !known.usableTokens.has(name) && !ownSenderIds.has(name),
    );
}

/** The rules that name a level in their conditions, or set it. */
export const rulesThatName = <Rule extends Parameters<typeof levelsOf>[0]>(
  level: string,
  rules: readonly Rule[],
): readonly Rule[] => rules.filter((rule) => levelsOf(rule).includes(level));

/** The levels in a rule's conditions, and those that it sets. */
export function levelsOf(
  rule: NamingRule & {
    readonly then: Pick<RuleThen, 'setLevel'> & {
      readonly escalate?: readonly { readonly setLevel?: string | undefined }[] | undefined;
    };
  },
): readonly string[] {
  const { setLevel, escalate = [] } = rule.then;
  const named = conditionsOf(rule).flatMap(([, { level = [], minLevel }]) => [...level, minLevel]);
  return [...named, setLevel, ...escalate.map((step) => step.setLevel)].filter(
    (level) => level !== undefined,
  );
}

/** The rules that name a token in their conditions. */
export function rulesThatNameToken<Rule extends NamingRule>(
  { id, name }: Pick<Token, 'id' | 'name'>,
  rules: readonly Rule[],
): readonly Rule[] {
  return rules.filter((rule) =>
    conditionsOf(rule).some(([, { token }]) => token?.some((each) => each === id || each === name)),
  );
}
