/** What the writer thread is asked to do, and what it answers: the language between `history.ts` and `writer-thread.ts`. */
import type { ErrorCode } from '#contract/errors.ts';
import type {
  Clear,
  Idempotency,
  LivePosition,
  NotificationDraft,
  ReceiptWrite,
  TenantId,
} from '#core/ports.ts';
import type { PanelAddress } from '#core/target.ts';
import type { SqlResult } from '../sql.ts';
import type { RetentionStep } from './retention.ts';

/** A draft without its route object: that travels as JSON text, made once for each distinct decision. */
export interface DraftRow extends Omit<NotificationDraft, 'route'> {
  readonly route: string;
  /** Whether panels show it, by routing alone. */
  readonly shown: boolean;
  readonly muted: boolean;
}

/** Where something of any tenant is listed as live. */
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
      readonly at: number;
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
  | { readonly kind: 'stored'; readonly position: number; readonly clears: readonly Clear[] }
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

/** `more`: live notifications are still to be cleared, before the log begins where it should. */
export interface RetainResult {
  readonly more: boolean;
}

export interface JobResults {
  readonly append: AppendResult;
  readonly clear: ClearResult;
  readonly receipts: readonly NewReceipt[];
  readonly retain: RetainResult;
  readonly sweep: number;
  readonly sql: readonly SqlResult[];
}

/** One job's answer. A refusal carries an AppError's code; without one it is a bug. */
export type JobAnswer =
  | { readonly value: JobResults[Job['kind']] }
  | { readonly refused: { readonly code: ErrorCode | undefined; readonly message: string } };
