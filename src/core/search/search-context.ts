import type { Ref } from '../ports.ts';
import type { PanelAddress } from '../target.ts';

/** What the names in a search can mean, and when and where it is asked. */
export interface SearchContext {
  readonly now: number;
  /** IANA name: where a date without an offset is. */
  readonly timeZone: string;
  readonly levels: readonly { readonly name: string; readonly rank: number }[];
  readonly panels: readonly (PanelAddress & Ref)[];
  readonly tokens: readonly Ref[];
  readonly rules: readonly Ref[];
}
