import type { Ref } from '../ports.ts';
import type { PanelAddress } from '../target.ts';

/** A panel as it was when it was deleted. */
export interface DeletedPanel extends PanelAddress, Ref {
  readonly deletedAt: number;
}

/**
 * Everything outside the query text that its meaning depends on: the time, the time zone, and the names it may use. Levels and
 * rules include deleted ones that history still refers to; rules are also listed under their former names.
 */
export interface SearchContext {
  readonly now: number;
  /** IANA name of the time zone for dates without an offset. */
  readonly timeZone: string;
  readonly levels: readonly { readonly name: string; readonly rank: number }[];
  readonly panels: readonly (PanelAddress & Ref)[];
  readonly deletedPanels: readonly DeletedPanel[];
  readonly tokens: readonly Ref[];
  readonly rules: readonly Ref[];
}
