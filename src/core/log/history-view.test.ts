import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import { csvCell, csvHeader, csvRow, ndjsonLine } from './history-view.ts';
import type { HistoryRecord } from './log.ts';

const record: HistoryRecord = {
  ...noTexts,
  kind: 'notification',
  id: '0199c0de-7000-7abc-8def-0123456789ab',
  position: 7,
  receivedAt: Date.UTC(2026, 10, 1, 10),
  title: '=HYPERLINK("http://x")',
  message: 'two\nlines, "quoted"',
  level: 'error',
  rank: 40,
  ttl: 5000,
  sentLevel: 'info',
  sentTtl: null,
  expiresAt: Date.UTC(2026, 10, 1, 10, 0, 5),
  ip: '10.0.0.5',
  host: 'db-01',
  key: '-key',
  labels: '{"env":"prod","site":"=1"}',
  sourceIp: '203.0.113.9',
  tokenId: 'aB3',
  tokenName: '@ci',
  route: {
    revision: 3,
    rules: [{ id: 'r', name: 'db' }],
    muted: false,
    target: { all: false, ids: ['p1', 'p2'], tags: ['noc'] },
    origin: 'belfry:expectation',
  },
  throttledOn: null,
  throttleCount: 0,
  cleared: { at: Date.UTC(2026, 10, 1, 10, 0, 1), by: 'ann', reason: 'cleared' },
  acknowledged: { at: Date.UTC(2026, 10, 1, 10, 0, 2), by: 'bob', note: '=1' },
  receipts: { shown: 2, expired: 0, cleared: 2 },
  alarm: null,
};

test('a row has a cell for each column of the header, quoted as RFC 4180 says and harmless in a spreadsheet', () => {
  expect(csvHeader.endsWith('\r\n')).toBe(true);
  expect(csvRow(record)).toBe(
    `0199c0de-7000-7abc-8def-0123456789ab,7,2026-11-01T10:00:00.000Z,error,40,"'=HYPERLINK(""http://x"")","two\nlines, ""quoted""",` +
      `db-01,10.0.0.5,'-key,,203.0.113.9,aB3,'@ci,5000,2026-11-01T10:00:05.000Z,info,,db,false,p1; p2,noc,,` +
      `2026-11-01T10:00:01.000Z,ann,cleared,2,0,2,2026-11-01T10:00:02.000Z,bob,'=1,belfry:expectation,"{""env"":""prod"",""site"":""=1""}"\r\n`,
  );
});

test('numbers stay numbers, and text that starts like a formula does not', () => {
  expect(csvCell(-5)).toBe('-5');
  expect(['=1', '+1', '-1', '@x', '\tx', '\rx', 'x=1', ''].map(csvCell)).toEqual([
    "'=1",
    "'+1",
    "'-1",
    "'@x",
    "'\tx",
    `"'\rx"`,
    'x=1',
    '',
  ]);
});

test('full-width and small forms of the signs are guarded too, and a line break', () => {
  for (const start of ['＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '\n'])
    expect(csvCell(`${start}1`).replace(/^"/, '')).toBe(`'${start}1${start === '\n' ? '"' : ''}`);
  expect(['—1', 'Ｘ=1', '１'].map(csvCell)).toEqual(['—1', 'Ｘ=1', '１']);
});

test('any text survives being a cell', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const cell = csvCell(text);
      const bare = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
      expect([text, `'${text}`]).toContain(bare);
      expect(/^[=+\-@\t\r\n＝＋－＠]/.test(bare)).toBe(false);
    }),
  );
});

test('a line of NDJSON is one line that holds the record', () => {
  const line = ndjsonLine(record);
  expect(line.indexOf('\n')).toBe(line.length - 1);
  expect(JSON.parse(line)).toMatchObject({
    id: record.id,
    position: 7,
    message: record.message,
    receivedAt: '2026-11-01T10:00:00.000Z',
    token: { id: 'aB3', name: '@ci' },
    sent: { level: 'info', ttl: null },
    target: record.route.target,
    cleared: { at: '2026-11-01T10:00:01.000Z', by: 'ann', reason: 'cleared' },
    acknowledged: { at: '2026-11-01T10:00:02.000Z', by: 'bob', note: '=1' },
    receipts: { shown: 2, expired: 0, cleared: 2 },
  });
  expect(JSON.parse(line)).not.toHaveProperty('kind');
});
