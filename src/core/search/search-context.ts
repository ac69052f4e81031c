import type { Ref } from '../ports.ts';
import type { PanelAddress } from '../target.ts';

/** A panel as it was when it was deleted. */
export interface DeletedPanel extends PanelAddress, Ref {
  readonly deletedAt: number;
}

/**
 * What the names in a search can mean, and when and where it is asked. Levels and rules include deleted ones that history still
 * has, rules also by names they had before.
 */
export interface SearchContext {
  readonly now: number;
  /** IANA name: where a date without an offset is. */
  readonly timeZone: string;
  readonly levels: readonly { readonly name: string; readonly rank: number }[];
  readonly panels: readonly (PanelAddress & Ref)[];
  readonly deletedPanels: readonly DeletedPanel[];
  readonly tokens: readonly Ref[];
  readonly rules: readonly Ref[];
}
