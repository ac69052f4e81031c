import { type OptionalText, optionalTextNames } from '#contract/history/fields.ts';
import { labelsOf } from '#contract/history/labels.ts';
import type { HistoryNotification, historyStates } from '#contract/history/notification.ts';
import { ownSenders } from '../intake/own-sender.ts';
import { getOrMake } from '../maps.ts';
import { acknowledgedView, contentOf, groupedBy } from '../streams/frames.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import { iso, isoOrNull } from '../time/time.ts';
import type { HistoryRecord, RecordForm, RecordForms } from './log.ts';
import type { Ref, Route } from './route.ts';
import { isEmpty, noPanel, reaches, type Target } from './target.ts';

/** The most panels named in one answer; the count includes all. */
const namedPanels = 50;

/** A record as the API returns it, with the panels that its target reaches now. */
export function historyView(
  record: HistoryRecord,
  snapshot: Pick<TenantSnapshot, 'panels'>,
  now: number,
): HistoryNotification {
  const [before, target, after] = partsOf(record, now);
  return { ...before, ...panelsReached(target, snapshot), ...after };
}

/** A record as three lines of JSON for {@link historyJson}, which adds the panels. The lines themselves are never sent to anybody. */
const historyLines = (record: HistoryRecord, now: number): string =>
  partsOf(record, now)
    .map((part) => JSON.stringify(part))
    .join('\n');

/** Records as the API returns them: the same JSON as that of {@link historyView}, made one by one. */
export function* historyJson(
  records: readonly string[],
  snapshot: Pick<TenantSnapshot, 'panels'>,
): Generator<string> {
  const panelsOf = new Map<string, string>();
  for (const lines of records) {
    const [before = '', target = '', after = ''] = lines.split('\n');
    const panels = getOrMake(panelsOf, target, () =>
      JSON.stringify(panelsReached(JSON.parse(target) as Target, snapshot)).slice(1, -1),
    );
    yield `${before.slice(0, -1)},${panels},${after.slice(1)}`;
  }
}

/** The fields before the panels, the target, and the fields after the panels. */
function partsOf(record: HistoryRecord, now: number) {
  const { route, cleared, throttledOn } = record;
  const before = {
    ...contentOf(record),
    state: stateOf(record, now),
    token: { id: record.tokenId, name: record.tokenName },
    origin: originOf(record),
    rules: route.rules.map(({ id, name }) => ({ id, name })),
    target: targetView(route.target),
  };
  const after = {
    sent: { level: record.sentLevel, ttl: record.sentTtl },
    throttledOn,
    cleared: cleared && { at: iso(cleared.at), by: cleared.by, reason: cleared.reason },
    acknowledged: record.acknowledged && acknowledgedView(record.acknowledged),
    receipts: { ...record.receipts },
    ...groupedBy(record),
  };
  return [before, route.muted || throttledOn !== null ? noPanel : route.target, after] as const;
}

/** The part of Belfry that sent it, as a rule's condition `token` names it; null if the token's sender did. */
function originOf({ tokenId, route }: Pick<HistoryRecord, 'tokenId' | 'route'>): string | null {
  return route.origin ?? ownSenders.find(({ id }) => id === tokenId)?.id ?? null;
}

export function targetView({ all, ids, tags }: Target): HistoryNotification['target'] {
  return { all, ids: [...ids], tags: [...tags] };
}

/** The registered panels a target reaches: the first of them by name, and how many there are. */
export function panelsReached(
  target: Target,
  { panels }: Pick<TenantSnapshot, 'panels'>,
): { panels: Ref[]; panelCount: number } {
  const reached: Ref[] = [];
  let panelCount = 0;
  if (!isEmpty(target)) {
    for (const panel of panels.values()) {
      if (!reaches(target, panel)) continue;
      panelCount += 1;
      if (reached.length < namedPanels) reached.push({ id: panel.id, name: panel.name });
    }
  }
  return { panels: reached, panelCount };
}

/** The enabled channels that a decision chose. */
export function channelsReached({ channels = [] }: Route, snapshot: Pick<TenantSnapshot, 'channels'>): Ref[] {
  return channels.flatMap((id) => {
    const channel = snapshot.channels.get(id);
    return channel?.enabled ? [{ id, name: channel.name }] : [];
  });
}

function stateOf(record: HistoryRecord, now: number): (typeof historyStates)[number] {
  if (record.route.muted) return 'muted';
  if (record.throttledOn !== null) return 'throttled';
  if (isEmpty(record.route.target)) return 'unrouted';
  if (record.cleared) return 'cleared';
  if (record.expiresAt !== null && record.expiresAt <= now) return 'expired';
  return record.alarm?.shelved ? 'shelved' : record.alarm?.suppressed ? 'suppressed' : 'live';
}

/** Export of history: one record a line, as NDJSON or CSV. */

/** One line of NDJSON, line break included; times in ISO 8601 UTC. */
export function ndjsonLine({
  kind: _,
  alarm: _alarm,
  route,
  tokenId,
  tokenName,
  sentLevel,
  sentTtl,
  ...record
}: HistoryRecord): string {
  const { cleared, acknowledged, receipts, throttledOn, throttleCount, receivedAt, expiresAt, ...content } =
    record;
  const line = {
    ...content,
    labels: labelsOf(record.labels),
    receivedAt: iso(receivedAt),
    expiresAt: isoOrNull(expiresAt),
    token: { id: tokenId, name: tokenName },
    origin: originOf({ tokenId, route }),
    sent: { level: sentLevel, ttl: sentTtl },
    rules: route.rules,
    muted: route.muted,
    target: route.target,
    throttledOn,
    throttleCount,
    cleared: cleared && { ...cleared, at: iso(cleared.at) },
    acknowledged: acknowledged && acknowledgedView(acknowledged),
    receipts,
  };
  return `${JSON.stringify(line)}\n`;
}

type Cell = string | number | boolean | null;

type Column = readonly [name: string, cell: (record: HistoryRecord) => Cell];

const textColumn = (name: OptionalText): Column => [name, (record) => record[name]];
const firstTexts = ['host', 'ip', 'key', 'url'] as const satisfies readonly OptionalText[];

/** The columns of a CSV file, in order. */
const columns: readonly Column[] = [
  ['id', ({ id }) => id],
  ['position', ({ position }) => position],
  ['received_at', ({ receivedAt }) => iso(receivedAt)],
  ['level', ({ level }) => level],
  ['rank', ({ rank }) => rank],
  ['title', ({ title }) => title],
  ['message', ({ message }) => message],
  ...firstTexts.map(textColumn),
  ['source_ip', ({ sourceIp }) => sourceIp],
  ['token_id', ({ tokenId }) => tokenId],
  ['token', ({ tokenName }) => tokenName],
  ['ttl_ms', ({ ttl }) => ttl],
  ['expires_at', ({ expiresAt }) => isoOrNull(expiresAt)],
  ['sent_level', ({ sentLevel }) => sentLevel],
  ['sent_ttl_ms', ({ sentTtl }) => sentTtl],
  ['rules', ({ route }) => route.rules.map(({ name }) => name).join('; ')],
  ['muted', ({ route }) => route.muted],
  ['panels', ({ route }) => (route.target.all ? 'all' : route.target.ids.join('; '))],
  ['panel_tags', ({ route }) => route.target.tags.join('; ')],
  ['throttled_on', ({ throttledOn }) => throttledOn],
  ['cleared_at', ({ cleared }) => isoOrNull(cleared?.at)],
  ['cleared_by', ({ cleared }) => cleared?.by ?? null],
  ['clear_reason', ({ cleared }) => cleared?.reason ?? null],
  ['shown', ({ receipts }) => receipts.shown],
  ['expired', ({ receipts }) => receipts.expired],
  ['cleared', ({ receipts }) => receipts.cleared],
  ['acknowledged_at', ({ acknowledged }) => isoOrNull(acknowledged?.at)],
  ['acknowledged_by', ({ acknowledged }) => acknowledged?.by ?? null],
  ['acknowledge_note', ({ acknowledged }) => acknowledged?.note ?? null],
  ['origin', originOf],
  // A column stays where it was: texts that were added later are at the end.
  ...optionalTextNames.filter((name) => !firstTexts.some((first) => first === name)).map(textColumn),
];

/** The header row, line break included. */
export const csvHeader = `${columns.map(([name]) => name).join(',')}\r\n`;

/** One row of RFC 4180 with its line break; an absent value is an empty cell. */
export function csvRow(record: HistoryRecord): string {
  return `${columns.map(([, cell]) => csvCell(cell(record))).join(',')}\r\n`;
}

/**
 * Whether a text starts like a formula, also after compatibility normalization, because spreadsheets treat full-width signs as
 * plain ones.
 */
const startsFormula = (text: string) => /^[=+\-@\t\r\n]/.test(text.slice(0, 1).normalize('NFKC'));

/**
 * A cell. A spreadsheet would run such a text as a formula, with the reader's rights. An apostrophe makes it text (OWASP, "CSV
 * injection"). Numbers stay numbers.
 */
export function csvCell(value: Cell): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = startsFormula(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The formats in which a search returns records. The store formats them; on SQLite on the search thread. */
export const recordForms: {
  readonly [Form in RecordForm]: (record: HistoryRecord, now: number) => RecordForms[Form];
} = {
  record: (record) => record,
  position: ({ position }) => position,
  lines: historyLines,
  ndjson: ndjsonLine,
  csv: csvRow,
};
