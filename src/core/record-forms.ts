import { csvRow, ndjsonLine } from './export.ts';
import { historyLines } from './history-view.ts';
import type { HistoryRecord, RecordForm, RecordForms } from './ports.ts';

/** The formats in which a search returns records. The store formats them; on SQLite on the search thread. */
export const recordForms: {
  readonly [Form in RecordForm]: (record: HistoryRecord, now: number) => RecordForms[Form];
} = { record: (record) => record, lines: historyLines, ndjson: ndjsonLine, csv: csvRow };
