/** The search parameters of the pages' URLs, which may contain anything. */

type Raw = Readonly<Record<string, unknown>>;

/** The parameters with a text; the router reads digits as a number. */
function texts<Name extends string>(search: Raw, ...names: readonly Name[]): { [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'number' || (typeof value === 'string' && value !== '')) found[name] = String(value);
  }
  return found;
}

export interface HistorySearch {
  /** The query. */
  q?: string;
  /** The notification that is open. */
  id?: string;
  /** New ones come in by themselves. */
  live?: true;
}

export const readHistorySearch = (search: Raw): HistorySearch => ({
  ...texts(search, 'q', 'id'),
  ...(search.live === true && { live: true }),
});

export interface PanelsSearch {
  /** The code of a screen that waits for approval. */
  pair?: string;
  /** The panel that is open. */
  id?: string;
}

export const readPanelsSearch = (search: Raw): PanelsSearch => texts(search, 'pair', 'id');

export interface RulesSearch {
  /** The rule that is open, or `new`. */
  id?: string;
  /** The notification to explain. */
  explain?: string;
  /** Start a rule that mutes this host. */
  mute?: string;
  /** Start a rule as a copy of this one. */
  copy?: string;
  /** Start with one of the examples. */
  example?: string;
}

export const readRulesSearch = (search: Raw): RulesSearch =>
  texts(search, 'id', 'explain', 'mute', 'copy', 'example');

interface TokensSearch {
  /** Shows automation keys instead of tokens. */
  tab?: 'keys';
  /** The one that is open. */
  id?: string;
}

export const readTokensSearch = (search: Raw): TokensSearch => ({
  ...texts(search, 'id'),
  ...(search.tab === 'keys' && { tab: 'keys' }),
});

interface IntegrationsSearch {
  /** Shows mappings instead of the formats that there are. */
  tab?: 'mappings';
  /** The one that is open, by its name. */
  id?: string;
}

export const readIntegrationsSearch = (search: Raw): IntegrationsSearch => ({
  ...texts(search, 'id'),
  ...(search.tab === 'mappings' && { tab: 'mappings' }),
});

interface LevelsSearch {
  /** The level that is open, by its name. */
  id?: string;
}

export const readLevelsSearch = (search: Raw): LevelsSearch => texts(search, 'id');

interface SignInSearch {
  /** The page to return to. */
  to?: string;
  /** Why signing in at an identity provider failed. */
  error?: string;
}

/** `to` must be a path of this server: a link to the sign-in must not lead elsewhere. */
export function readSignInSearch(search: Raw): SignInSearch {
  const { to, error } = texts(search, 'to', 'error');
  return { ...(to && /^\/(?![/\\])/.test(to) && { to }), ...(error && { error }) };
}

interface StartSearch {
  /** The code of a screen, as its QR code carries it. */
  pair?: string;
}

export const readStartSearch = (search: Raw): StartSearch => texts(search, 'pair');
