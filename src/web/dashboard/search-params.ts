/** What the addresses of the pages say behind their "?": read from whatever stands there, and never trusted to fit. */

type Raw = Readonly<Record<string, unknown>>;

/** The named parameters that hold any text; a number is text that looks like one. */
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
  /** The code of a screen that waits to be let in. */
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
  /** Begin a rule that mutes this host. */
  mute?: string;
  /** Begin a rule like this one. */
  copy?: string;
  /** Begin with one of the examples. */
  example?: string;
}

export const readRulesSearch = (search: Raw): RulesSearch =>
  texts(search, 'id', 'explain', 'mute', 'copy', 'example');

interface TokensSearch {
  /** Automation keys, in the place of tokens. */
  tab?: 'keys';
  /** The one that is open. */
  id?: string;
}

export const readTokensSearch = (search: Raw): TokensSearch => ({
  ...texts(search, 'id'),
  ...(search.tab === 'keys' && { tab: 'keys' }),
});

interface LevelsSearch {
  /** The level that is open, by its name. */
  id?: string;
}

export const readLevelsSearch = (search: Raw): LevelsSearch => texts(search, 'id');

interface SignInSearch {
  /** Where one wanted to go. */
  to?: string;
  /** Why an identity provider's answer let nobody in. */
  error?: string;
}

/** `to` is a path of our own or nothing: nobody is sent elsewhere by a link to the sign-in. */
export function readSignInSearch(search: Raw): SignInSearch {
  const { to, error } = texts(search, 'to', 'error');
  return { ...(to && /^\/(?![/\\])/.test(to) && { to }), ...(error && { error }) };
}

interface StartSearch {
  /** The code of a screen, as its QR code carries it. */
  pair?: string;
}

export const readStartSearch = (search: Raw): StartSearch => texts(search, 'pair');
