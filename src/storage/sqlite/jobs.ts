/** The jobs of the writer thread and their results: the protocol between `history.ts` and `writer-thread.ts`. */
import type { ErrorCode } from '#contract/errors.ts';
import type {
  Acknowledged,
  Acknowledgement,
  AcknowledgeOutcome,
  Clear,
  Idempotency,
  LivePosition,
  NotificationDraft,
  TenantId,
} from '#core/ports.ts';
import type { ReceiptWrite } from '#core/receipts.ts';
import type { PanelAddress } from '#core/target.ts';
import type { RetentionStep } from '../retention.ts';
import type { SqlResult } from '../sql.ts';

/** A draft whose route is JSON text, which is encoded once for each distinct route. */
export interface DraftRow extends Omit<NotificationDraft, 'route'> {
  readonly route: string;
  /** Whether the route leads to any panel. */
  readonly shown: boolean;
}

/** An entry of the log about a notification. */
export interface ChangeRow {
  readonly reason: string;
  readonly by: string;
  readonly at: number;
  readonly note?: string | null;
}

/** The position of a live notification, with its tenant. */
export interface TenantLivePosition extends LivePosition {
  readonly tenant: TenantId;
}

export type Job =
  | {
      readonly kind: 'append';
      readonly tenant: TenantId;
      readonly draft: DraftRow;
      readonly idempotency: Idempotency | null;
    }
  | {
      readonly kind: 'clear';
      readonly tenant: TenantId;
      readonly id: string;
      readonly by: string;
      readonly reason: Clear['reason'];
      readonly at: number;
    }
  | {
      readonly kind: 'acknowledge';
      readonly tenant: TenantId;
      readonly id: string;
      readonly given: Acknowledged;
    }
  | {
      readonly kind: 'receipts';
      readonly tenant: TenantId;
      readonly panel: PanelAddress;
      readonly receipts: readonly ReceiptWrite[];
    }
  | {
      readonly kind: 'retain';
      readonly tenant: TenantId;
      readonly step: RetentionStep;
      readonly now: number;
    }
  | { readonly kind: 'sweep'; readonly now: number; readonly expired: readonly TenantLivePosition[] }
  | {
      readonly kind: 'sql';
      readonly statements: readonly { readonly sql: string; readonly parameters: readonly unknown[] }[];
    };

export type AppendResult =
  | {
      readonly kind: 'stored';
      readonly position: number;
      readonly clears: readonly Clear[];
      /** Taken over from what it replaced. */
      readonly acknowledgement?: Acknowledgement | undefined;
    }
  | { readonly kind: 'repeated'; readonly id: string }
  | { readonly kind: 'conflict' };

export type ClearResult =
  | { readonly kind: 'cleared'; readonly clear: Clear }
  | { readonly kind: 'not-live' }
  | { readonly kind: 'not-found' };

export interface NewReceipt {
  readonly id: string;
  readonly state: ReceiptWrite['state'];
  readonly at: number;
  readonly receivedAt: number;
}

/** `more`: the step must run again, because live notifications before the new start of the log are not cleared yet. */
export interface RetainResult {
  readonly more: boolean;
}

export interface JobResults {
  readonly append: AppendResult;
  readonly clear: ClearResult;
  readonly acknowledge: AcknowledgeOutcome;
  readonly receipts: readonly NewReceipt[];
  readonly retain: RetainResult;
  readonly sweep: number;
  readonly sql: readonly SqlResult[];
}

/** The result of one job. A refusal has the code of an AppError; without a code it is a bug. */
export type JobAnswer =
  | { readonly value: JobResults[Job['kind']] }
  | { readonly refused: { readonly code: ErrorCode | undefined; readonly message: string } };
