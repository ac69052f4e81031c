/** The messages of a panel as clients of Gotify ask for them: newest first, in pages, read from the log. */
import { limits } from '#contract/limits.ts';
import type { Entry, History } from '../../log/log.ts';
import type { ReceiptRow, ReceiptStore } from '../../log/receipts.ts';
import type { PanelAddress } from '../../log/target.ts';
import { isFor, isQuietFor, isTakenCareOf, phonePanelOf } from '../encoding.ts';
import { type GotifyContext, GotifyEncoding, type GotifyMessage, type MessageFrame } from './encoding.ts';
import { gotifyId, positionOfGotifyId } from './ids.ts';

export interface ListContext extends GotifyContext {
  readonly history: GotifyContext['history'] & Pick<History, 'bounds' | 'live' | 'readAfter' | 'recordsAt'>;
  readonly receipts: Pick<ReceiptStore, 'of'>;
  readonly now: () => number;
}

export interface MessagesWanted {
  readonly panel: PanelAddress;
  readonly limit: number;
  /** Messages with smaller ids; 0: the newest. */
  readonly since: number;
  /** Only those of this application. */
  readonly application?: number;
}

export interface MessagesPage {
  readonly messages: readonly GotifyMessage[];
  /** The `since` of the next page; 0: this is the last one. */
  readonly since: number;
}

const entriesAtOnce = 200;

/**
 * One read goes no further than through 10,000 entries: of what is older it has the alarms that stand, and the next page continues below
 * them. The Android app stops at an empty page, so otherwise it would miss these alarms.
 */
export async function readMessages(context: ListContext, wanted: MessagesWanted): Promise<MessagesPage> {
  const { epoch, tenant, history } = context;
  const { head, first } = await history.bounds(tenant);
  const asked = wanted.since === 0 ? head + 1 : positionOfGotifyId(epoch, wanted.since);
  const before = Math.min(asked, head + 1);
  const oldest = Math.max(first, before - limits.replayEntries);
  const messages: GotifyMessage[] = [];
  for (let end = before; end > oldest; end -= entriesAtOnce) {
    messages.push(...(await messagesBetween(context, wanted, Math.max(oldest, end - entriesAtOnce), end)));
    // One more than asked for says that there is a next page.
    if (messages.length > wanted.limit) break;
  }
  const standing =
    messages.length <= wanted.limit && oldest > first ? await standingBefore(context, wanted, oldest) : [];
  messages.push(...standing);
  const page = messages.slice(0, wanted.limit);
  const last = page.at(-1);
  const isCut = messages.length > page.length || standing.length > 0;
  if (last && isCut) return { messages: page, since: last.id > gotifyId(epoch, first) ? last.id : 0 };
  return { messages: page, since: oldest > first ? gotifyId(epoch, oldest) : 0 };
}

/** Those from `start` and before `end`, newest first. */
async function messagesBetween(
  context: ListContext,
  wanted: MessagesWanted,
  start: number,
  end: number,
): Promise<readonly GotifyMessage[]> {
  const { entries } = await context.history.readAfter(context.tenant, start - 1, end - start);
  return messagesOf(
    context,
    wanted,
    entries.filter(({ position }) => position < end),
  );
}

/** Those of the panel's live set before this position, newest first. */
async function standingBefore(
  context: ListContext,
  wanted: MessagesWanted,
  before: number,
): Promise<readonly GotifyMessage[]> {
  const { tenant, history, now } = context;
  const live = await history.live(tenant, wanted.panel, now(), limits.liveSet);
  const positions = live.positions.map(({ position }) => position).filter((position) => position < before);
  if (positions.length === 0) return [];
  return messagesOf(
    context,
    wanted,
    await history.recordsAt(
      tenant,
      positions.sort((a, b) => a - b),
    ),
  );
}

/** The messages that show these entries on the panel, in reverse order. */
async function messagesOf(
  context: ListContext,
  { panel, application }: MessagesWanted,
  entries: readonly Entry[],
): Promise<readonly GotifyMessage[]> {
  const reader = phonePanelOf(context, panel);
  const here = entries.filter(({ route }) => isFor({ target: route.target }, reader));
  const encoding = new GotifyEncoding(context);
  const frames = await encoding.framesOf(here, context.now(), fail);
  const shown = await withoutOver(
    context,
    panel,
    frames.filter((frame) => isFor(frame, reader)),
  );
  return shown
    .map((frame) => encoding.bytesOf(frame, isQuietFor(frame, reader, context.now())))
    .map((bytes) => JSON.parse(bytes.toString()) as GotifyMessage)
    .filter(({ appid }) => application === undefined || appid === application)
    .reverse();
}

/**
 * Without messages about what has ended, was replaced, is acknowledged or off the panels by now, and without those that were taken off on
 * the phone. One that came after that, because the alarm is back, stays.
 */
async function withoutOver(
  { history, receipts, tenant }: ListContext,
  panel: PanelAddress,
  frames: readonly MessageFrame[],
): Promise<readonly MessageFrame[]> {
  if (frames.length === 0) return frames;
  const records = await history.recordsAt(tenant, [...new Set(frames.map(({ shows }) => shows))]);
  const cleared = records.filter((record) => record.receipts.cleared > 0).map(({ id }) => id);
  const rows = cleared.length > 0 ? await receipts.of(tenant, cleared) : new Map<string, ReceiptRow[]>();
  const takenOffAt = (id: string) =>
    rows.get(id)?.find(({ panelId }) => panelId === panel.id)?.clearedAt ?? Number.NEGATIVE_INFINITY;
  /** The messages about each of them are over up to this time. */
  const overUntil = new Map(
    records.map((record) => [
      record.position,
      isTakenCareOf(record) ? Number.POSITIVE_INFINITY : takenOffAt(record.id),
    ]),
  );
  return frames.filter(({ shows, at }) => at > (overUntil.get(shows) ?? Number.NEGATIVE_INFINITY));
}

const fail = (error: unknown) => {
  throw error;
};
