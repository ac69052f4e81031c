/** What a kind of channel provides so that Belfry gets the answers of its system itself. */
import type { Answered, AnsweringSystems, AnswersContext, ChannelAnswer } from '#core/channels/answers.ts';
import type { ChannelRecord } from '#core/channels/channels.ts';
import { FairQueue } from '#core/limits/concurrency.ts';
import type { Outbound } from '#outbound/outbound.ts';
import type { ChannelSetup } from '../message.ts';

/** Reads what systems answer, a tenth of the time at most. Tenants take turns. */
export const reading = new FairQueue(1, (tookMs) => 9 * tookMs);

/** Fetches and reads what may be large: 16 answers are in memory at most, 4 of a tenant. Tenants take turns. */
export const fetching = new FairQueue(16, undefined, 4);

/** What gets the answers of one channel. */
export interface AnswerSource {
  /** Resolves once nothing more comes, and what is being done is done. */
  close(): Promise<void>;
}

export interface SourceOptions {
  readonly channel: ChannelRecord;
  /** The name of its tenant. */
  readonly tenant: string;
  readonly setup: ChannelSetup;
  readonly outbound: Outbound;
  readonly context: AnswersContext;
  /** Does what the answer says; undefined: the channel is another now, or this node is no longer the one. Rejects if the store fails. */
  readonly onAnswer: (answer: ChannelAnswer) => Promise<Answered | undefined>;
  readonly showAnswer: AnsweringSystems['showAnswer'];
  /** Call it with each failure to get answers. Its message may have what the system says. */
  readonly onProblem: (error: Error) => void;
  /** Call it when answers come again. */
  readonly onWorking: () => void;
  /** Call it with the failure to do what one answer says. */
  readonly onLost: (error: Error) => void;
  /** Call it with an answer that does nothing: the alarm as it names it, and why. */
  readonly onRefused: (alarm: string, reason: string) => void;
}

export interface SourceKind {
  /** Whether the channel is set to take answers. */
  isWanted(channel: ChannelRecord): boolean;
  /** Returns what starts its sources. */
  load(): Promise<(options: SourceOptions) => AnswerSource>;
}
