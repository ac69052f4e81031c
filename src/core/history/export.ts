/** Export of history: one record a line, as NDJSON or CSV. */
import { type OptionalText, optionalTextNames } from '#contract/history/fields.ts';
import type { HistoryRecord, RecordForm, RecordForms } from '../ports.ts';
import { acknowledgedView } from '../stream/frames.ts';
import { iso, isoOrNull } from '../time.ts';
import { historyLines, originOf } from './history-view.ts';

/** One line of NDJSON, line break included; times in ISO 8601 UTC. */
export function ndjsonLine({
  kind: _,
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
    acknowledged: acknowledgedView(acknowledged),
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
} = { record: (record) => record, lines: historyLines, ndjson: ndjsonLine, csv: csvRow };
