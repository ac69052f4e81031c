/** One stream, several encodings: what a stream of panels writes is made by its encoder, from frames that all streams of an encoding share. */
import type { ReadyEvent } from '#contract/panels/panel.ts';
import { minRankOf } from '#contract/routing/level-styles.ts';
import type { Entry, History, HistoryRecord, LiveNotification } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { type PanelAddress, reaches } from '../log/target.ts';
import { type QuietHours, quietHoursOf } from '../routing/quiet-hours.ts';
import type { Router } from '../routing/router.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import type { Frame, FrameReader } from './frame-buffer.ts';
import type { LastSounds } from './last-sounds.ts';

/** What the streams of a tenant in one encoding share. */
export interface Encoding {
  /** The frames of entries with a target, in order. An entry that cannot be encoded is reported and left out. */
  framesOf(
    entries: readonly Entry[],
    now: number,
    onError: (error: unknown) => void,
  ): Iterable<Frame> | Promise<Iterable<Frame>>;
  /** The same for a client that was away: without what has been superseded since. Absent: such a client gets all. */
  pastFramesOf?(
    entries: readonly Entry[],
    now: number,
    onError: (error: unknown) => void,
  ): Promise<Iterable<Frame>>;
}

/** How one stream is written. An empty text is not written. */
export interface StreamEncoder extends FrameReader {
  /** The panels of the stream. */
  readonly panels: readonly PanelAddress[];
  /** The first text of the stream. `cursor`: what comes next is after this position. */
  ready(data: ReadyEvent, of: { readonly cursor: number; readonly retryMs: number }): string;
  /** An event that is no entry of the log; undefined if the encoding has none. */
  readonly event: ((event: string, data: unknown) => string) | undefined;
  /** A notification of the live set, which is that at `head`. */
  live(
    notification: LiveNotification,
    of: { readonly now: number; readonly head: number },
  ): string | Promise<string>;
  /** Follows the live set, which was that at `head`. */
  afterLive(head: number): string;
  heartbeat(cursor: number): string;
  /** The address of a panel has changed. Returns whether the reader must drop what it shows and get the live set. */
  update(panel: PanelAddress): boolean;
}

/** What an encoding may need of its tenant. */
export interface EncodingContext {
  readonly tenant: TenantId;
  readonly epoch: string;
  readonly history: Pick<History, 'find' | 'readAfter' | 'recordsAt'>;
  /** The configuration as it is now; undefined: none has been read. */
  readonly snapshot: () => TenantSnapshot | undefined;
  /** The rules as they are now; undefined: none have been read. */
  readonly router: () => Pick<Router, 'instructing'> | undefined;
  /** The public URL of this server, if it is known. */
  readonly baseUrl?: string | undefined;
  /** What rang last on phones. Absent: a stream knows it only of itself. */
  readonly lastSounds?: LastSounds;
  readonly now: () => number;
}

/** How a client reads. */
export interface StreamKind {
  /** Streams whose kind has the same name share an encoding. */
  readonly name: string;
  encoding(context: EncodingContext): Encoding;
  encoder(context: EncodingContext, encoding: Encoding, panels: readonly PanelAddress[]): StreamEncoder;
  /** How often a quiet stream is written to, as a multiple of the setting. */
  readonly heartbeats: number;
}

/** The panel of a phone: notifications of a lower rank do not go there. */
export interface PhonePanel {
  readonly address: PanelAddress;
  readonly minRank: number;
  readonly quiet: QuietHours | undefined;
  /** See `ring-pause.ts`. */
  readonly ringPauseMs: number | undefined;
}

export function phonePanelOf(
  { snapshot }: Pick<EncodingContext, 'snapshot'>,
  panel: PanelAddress,
): PhonePanel {
  const known = snapshot();
  const display = known?.panels.get(panel.id)?.display;
  return {
    address: { id: panel.id, tags: panel.tags },
    minRank: known && display ? minRankOf(display, known.levels) : Number.NEGATIVE_INFINITY,
    quiet: known && display && quietHoursOf(display, known.record.timeZone),
    ringPauseMs: display?.ringPauseMs,
  };
}

/** Whether a frame is for the panel of a phone. */
export const isFor = (
  { target, unless, rank = Number.POSITIVE_INFINITY }: Pick<Frame, 'target' | 'unless' | 'rank'>,
  { address, minRank }: PhonePanel,
): boolean => rank >= minRank && reaches(target, address) && !(unless && reaches(unless, address));

/** Whether what a frame shows must not make a sound on the phone now. */
export const isQuietFor = (
  { rank = Number.POSITIVE_INFINITY }: Pick<Frame, 'rank'>,
  { quiet }: PhonePanel,
  now: number,
): boolean => quiet !== undefined && rank < quiet.ringsFrom && quiet.isQuiet(now);

/** Whether a phone that was away must not ring for it: it has ended, was replaced, is acknowledged, or is off the panels. */
export const isTakenCareOf = ({ cleared, acknowledged, alarm }: HistoryRecord): boolean =>
  cleared !== null ||
  acknowledged !== null ||
  (alarm !== null && (alarm.shelved !== null || alarm.suppressed !== null));
