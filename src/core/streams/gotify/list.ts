/** The messages of a panel as clients of Gotify ask for them: newest first, in pages, read from the log. */
import { limits } from '#contract/limits.ts';
import type { History } from '../../log/log.ts';
import type { ReceiptRow, ReceiptStore } from '../../log/receipts.ts';
import type { PanelAddress } from '../../log/target.ts';
import { isFor, phonePanelOf } from '../encoding.ts';
import { isTakenCareOf } from '../ntfy-frames.ts';
import { type GotifyContext, GotifyEncoding, type GotifyMessage, type MessageFrame } from './encoding.ts';
import { gotifyId, positionOfGotifyId } from './ids.ts';

export interface ListContext extends GotifyContext {
  readonly history: GotifyContext['history'] & Pick<History, 'bounds' | 'readAfter' | 'recordsAt'>;
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
  readonly baseUrl: string | undefined;
}

export interface MessagesPage {
  readonly messages: readonly GotifyMessage[];
  /** The `since` of the next page; 0: this is the last one. */
  readonly since: number;
}

const entriesAtOnce = 200;

/** One read goes no further than through 10,000 entries: then it answers with what it has, and the next page continues there. */
export async function readMessages(context: ListContext, wanted: MessagesWanted): Promise<MessagesPage> {
  const { epoch, tenant, history } = context;
  const { head, first } = await history.bounds(tenant);
  const asked = wanted.since === 0 ? head + 1 : positionOfGotifyId(epoch, wanted.since);
  const before = Math.min(asked, head + 1);
  const oldest = Math.max(first, before - limits.replayEntries);
  const messages: GotifyMessage[] = [];
  for (let end = before; end > oldest; end -= entriesAtOnce) {
    const found = await messagesBetween(context, wanted, Math.max(oldest, end - entriesAtOnce), end);
    messages.push(...found);
    // One more than asked for says that there is a next page.
    if (messages.length > wanted.limit) break;
  }
  const page = messages.slice(0, wanted.limit);
  const last = page.at(-1);
  if (last && messages.length > page.length) return { messages: page, since: last.id };
  return { messages: page, since: oldest > first ? gotifyId(epoch, oldest) : 0 };
}

/** Those from `start` and before `end`, newest first. */
async function messagesBetween(
  context: ListContext,
  { panel, application, baseUrl }: MessagesWanted,
  start: number,
  end: number,
): Promise<readonly GotifyMessage[]> {
  const { tenant, history, now } = context;
  const reader = phonePanelOf(context, panel);
  const { entries } = await history.readAfter(tenant, start - 1, end - start);
  const here = entries.filter(
    (entry) => entry.position < end && isFor({ target: entry.route.target }, reader),
  );
  const frames = await new GotifyEncoding(context, baseUrl).framesOf(here, now(), fail);
  return (
    await withoutOver(
      context,
      panel,
      frames.filter((frame) => isFor(frame, reader)),
    )
  )
    .map(({ bytes }) => JSON.parse(bytes.toString()) as GotifyMessage)
    .filter(({ appid }) => application === undefined || appid === application)
    .reverse();
}

/** Without messages about what has ended, was replaced, is acknowledged or off the panels by now, and what was taken off on the phone. */
async function withoutOver(
  { history, receipts, tenant }: ListContext,
  panel: PanelAddress,
  frames: readonly MessageFrame[],
): Promise<readonly MessageFrame[]> {
  if (frames.length === 0) return frames;
  const records = await history.recordsAt(tenant, [...new Set(frames.map(({ shows }) => shows))]);
  const cleared = records.filter((record) => record.receipts.cleared > 0).map(({ id }) => id);
  const rows = cleared.length > 0 ? await receipts.of(tenant, cleared) : new Map<string, ReceiptRow[]>();
  const isTakenOff = (id: string) =>
    rows.get(id)?.some(({ panelId, clearedAt }) => panelId === panel.id && clearedAt !== null);
  const over = new Set(
    records
      .filter((record) => isTakenCareOf(record) || isTakenOff(record.id))
      .map(({ position }) => position),
  );
  return frames.filter(({ shows }) => !over.has(shows));
}

const fail = (error: unknown) => {
  throw error;
};
