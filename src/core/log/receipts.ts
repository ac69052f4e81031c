/** Display receipts: the reports of panels about what they showed. */
import type { TenantId } from './route.ts';
import type { PanelAddress } from './target.ts';

export interface ReceiptWrite {
  readonly id: string;
  readonly state: 'shown' | 'expired' | 'cleared';
  readonly at: number;
  /** Only of `shown`: as part of the card or row of a group. */
  readonly inGroup?: true;
}

export interface ReceiptRow {
  readonly panelId: string;
  readonly shownAt: number | null;
  /** It was shown as part of the card or row of a group. */
  readonly inGroup: boolean;
  readonly expiredAt: number | null;
  readonly clearedAt: number | null;
}

export type ReceiptMode = 'last counts' | undefined;

/** Display receipts. The first receipt for each state counts; receipts for notifications not routed to the panel are ignored. */
export interface ReceiptStore {
  /**
   * Returns the receipts that were new, each with the time when its notification was received. `last counts`: a receipt with a later
   * time replaces the one before, and is new.
   */
  record(
    tenant: TenantId,
    panel: PanelAddress,
    receipts: readonly ReceiptWrite[],
    mode?: ReceiptMode,
  ): Promise<readonly (Omit<ReceiptWrite, 'inGroup'> & { readonly receivedAt: number })[]>;
  /** When the first panel showed each of these notifications; those that no panel has shown are missing. */
  firstShown(tenant: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The receipts of each of these notifications, by panel; those without any are missing. */
  of(tenant: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, readonly ReceiptRow[]>>;
}
