import { expect, test } from 'vitest';
import { eventsOf } from './events.ts';
import { parseInThread } from './reader.ts';

const file = (events: string, zones = '') =>
  `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${zones}${events
    .split('---')
    .map(
      (event, i) =>
        `BEGIN:VEVENT\r\nUID:${event.includes('UID:') ? '' : `e${i}`}\r\n${event.trim()}\r\nEND:VEVENT\r\n`,
    )
    .join('')}END:VCALENDAR\r\n`.replace(/UID:\r\n/g, '');
const range = { from: Date.parse('2026-10-01T00:00:00Z'), until: Date.parse('2026-12-01T00:00:00Z') };
const read = (events: string, zones?: string) => ({
  text: file(events, zones),
  timeZone: 'Europe/Berlin',
  now: range.from,
  ...range,
});
const times = (events: string, zones?: string) =>
  eventsOf(read(events, zones)).events.map(({ from, until, text }) =>
    [new Date(from), new Date(until)].map((each) => each.toISOString().slice(0, 16)).concat(text),
  );

test('a weekly event keeps its wall time when summer time ends, by the name of its zone alone', () => {
  const weekly = `SUMMARY:Ana
DTSTART;TZID=Europe/Berlin:20261012T090000
DTEND;TZID=Europe/Berlin:20261019T090000
RRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=20261109T080000Z`;
  expect(times(weekly)).toEqual([
    ['2026-10-12T07:00', '2026-10-19T07:00', 'Ana'],
    ['2026-10-26T08:00', '2026-11-02T08:00', 'Ana'],
    ['2026-11-09T08:00', '2026-11-16T08:00', 'Ana'],
  ]);
});

test('an event that begins before the change ends at its wall time after it', () => {
  const long =
    'SUMMARY:Ana\nDTSTART;TZID=Europe/Berlin:20261019T090000\nDTEND;TZID=Europe/Berlin:20261026T090000\nRRULE:FREQ=WEEKLY;COUNT=2';
  expect(times(long)).toEqual([
    ['2026-10-19T07:00', '2026-10-26T08:00', 'Ana'],
    ['2026-10-26T08:00', '2026-11-02T08:00', 'Ana'],
  ]);
});

test('exceptions, moved and cancelled events, and other lengths are as calendars show them', () => {
  const events = `UID:w
SUMMARY:Ana
DTSTART:20261005T090000Z
DURATION:P1D
RRULE:FREQ=WEEKLY;COUNT=4
EXDATE:20261012T090000Z
---
UID:w
RECURRENCE-ID:20261019T090000Z
SUMMARY:Ben
DTSTART:20261020T100000Z
DTEND:20261020T120000Z
---
UID:w
RECURRENCE-ID:20261026T090000Z
STATUS:CANCELLED
SUMMARY:Ana
DTSTART:20261026T090000Z
DTEND:20261027T090000Z`;
  expect(times(events)).toEqual([
    ['2026-10-05T09:00', '2026-10-06T09:00', 'Ana'],
    ['2026-10-20T10:00', '2026-10-20T12:00', 'Ben'],
  ]);
});

test('whole days and times without a zone are of the schedule, and attendees are named unless they declined', () => {
  const events = `SUMMARY:On call
DTSTART;VALUE=DATE:20261024
DTEND;VALUE=DATE:20261026
ATTENDEE;CN=Ana Smith:mailto:ana@example.org
ATTENDEE;PARTSTAT=DECLINED;CN=Ben:mailto:ben@example.org
---
SUMMARY:Ben
DTSTART:20261101T080000
DTEND:20261101T180000`;
  expect(times(events)).toEqual([
    ['2026-10-23T22:00', '2026-10-25T23:00', 'On call\nAna Smith\nana@example.org'],
    ['2026-11-01T07:00', '2026-11-01T17:00', 'Ben'],
  ]);
});

test('a zone that only the file knows, as of Outlook, is read from it', () => {
  const zone = `BEGIN:VTIMEZONE\r\nTZID:W. Europe Standard Time\r\nBEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r\nTZOFFSETTO:+0100\r\nRRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\nBEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\nRRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n`;
  const events = `SUMMARY:Ana
DTSTART;TZID=W. Europe Standard Time:20261019T090000
DTEND;TZID=W. Europe Standard Time:20261019T170000
RRULE:FREQ=WEEKLY;COUNT=2`;
  expect(times(events, zone)).toEqual([
    ['2026-10-19T07:00', '2026-10-19T15:00', 'Ana'],
    ['2026-10-26T08:00', '2026-10-26T16:00', 'Ana'],
  ]);
});

test('a moved event counts that the file has alone, and one that changes all after it', () => {
  const alone = `RECURRENCE-ID:20261010T090000Z
DTSTART:20261011T090000Z
DTEND:20261011T100000Z
SUMMARY:Ana`;
  expect(times(alone)).toEqual([['2026-10-11T09:00', '2026-10-11T10:00', 'Ana']]);
  const future = `UID:w
DTSTART:20261005T090000Z
DTEND:20261005T100000Z
RRULE:FREQ=WEEKLY;COUNT=4
SUMMARY:Ana
---
UID:w
RECURRENCE-ID;RANGE=THISANDFUTURE:20261012T090000Z
DTSTART:20261013T090000Z
DTEND:20261013T110000Z
SUMMARY:Ben`;
  expect(times(future)).toEqual([
    ['2026-10-05T09:00', '2026-10-05T10:00', 'Ana'],
    ['2026-10-13T09:00', '2026-10-13T11:00', 'Ben'],
    ['2026-10-20T09:00', '2026-10-20T11:00', 'Ben'],
    ['2026-10-27T09:00', '2026-10-27T11:00', 'Ben'],
  ]);
});

test('of too many events, those that are over are left out first, and the last to come', () => {
  const hourly = 'DTSTART:20261001T000000Z\nDURATION:PT1H\nRRULE:FREQ=HOURLY';
  const keptAt = (now: string) => {
    const { events } = eventsOf({ ...read(hourly), now: Date.parse(now) });
    return [
      events.length,
      ...[events[0], events.at(-1)].map((each) => new Date(each?.from ?? 0).toISOString()),
    ];
  };
  const first = '2026-10-20T08:00:00.000Z';
  expect(keptAt('2026-10-02T00:00:00Z')).toEqual([
    ...[1_000, '2026-10-02T00:00:00.000Z', '2026-11-12T15:00:00.000Z'],
  ]);
  expect(keptAt('2026-11-30T00:00:00Z')).toEqual([1_000, first, '2026-11-30T23:00:00.000Z']);
});

test('a file may have several calendars', () => {
  const two = 'SUMMARY:Ana\nDTSTART:20261005T090000Z\nDTEND:20261005T100000Z';
  const text = file(two) + file(two.replace('Ana', 'Ben'));
  expect(eventsOf({ ...read(''), text }).events.map((each) => each.text)).toEqual(['Ana', 'Ben']);
});

test('events that repeat daily for many years can be read', () => {
  const daily = 'DTSTART;TZID=Europe/Berlin:20100101T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY';
  const several = Array.from({ length: 10 }, () => daily).join('\n---\n');
  expect(eventsOf(read(several)).events).toHaveLength(610);
});

const good = 'SUMMARY:Ben\nDTSTART:20261019T090000Z\nDTEND:20261019T170000Z';
const names = (events: string) => {
  const copy = eventsOf(read(events));
  return { events: copy.events.map((each) => each.text), leftOut: copy.leftOut };
};

test.each([
  ['unreadable', 'DTSTART:20261019T090000Z\nDURATION:PT1H\nRRULE:FREQ=NONSENSE'],
  ['unreadable', 'DTSTART:20261019T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=x'],
  ['unreadable', 'DTSTART:20261019T090000Z\nDTEND:soon'],
  ['unreadable', 'DTSTART:someday\nDURATION:PT1H'],
  ['unreadable', 'DTSTART:20261019T090000Z\nDURATION:PT1H\nno property'],
  ['repeats-too-often', 'DTSTART:19700101T000000Z\nDURATION:PT1H\nRRULE:FREQ=SECONDLY'],
  ['no-length', 'DTSTART:20261019T090000Z'],
  ['no-length', 'DTSTART:20261019T090000Z\nDTEND:20261019T090000Z'],
  ['no-length', 'DTSTART:20261019T090000Z\nDTEND:20261018T090000Z'],
])('one bad event is left out and named (%s: %j); the others count', (reason, bad) => {
  expect(names(`SUMMARY:Ana\\, and\n  more\n${bad}\n---\n${good}`)).toEqual({
    events: ['Ben'],
    leftOut: [{ title: 'Ana, and more', reason }],
  });
});

test('an exception with a bad time changes nothing of the event that it belongs to', () => {
  const events = `UID:w\nDTSTART:20261005T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2\nSUMMARY:Ana
---
UID:w\nRECURRENCE-ID:someday\nDTSTART:20261013T090000Z\nDTEND:never\nSUMMARY:Ben`;
  expect(names(events)).toEqual({
    events: ['Ana', 'Ana'],
    leftOut: [{ title: 'Ben', reason: 'unreadable' }],
  });
});

test.each([
  'DTSTART:someday\nDTEND:20261012T110000Z',
  'DTSTART:20261012T100000Z\nDTEND:never',
  'DTEND:20261012T110000Z',
])('an exception that cannot be read (%j) does not take its event along', (bad) => {
  const events = `UID:w\nDTSTART:20261005T090000Z\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2\nSUMMARY:Ana
---
UID:w\nRECURRENCE-ID:20261012T090000Z\n${bad}\nSUMMARY:Ben`;
  expect(names(events).events).toEqual(['Ana', 'Ana']);
});

test('a shift in the hour that the clock skips in spring does not take the other days along', () => {
  const shift =
    'SUMMARY:Ana\nDTSTART;TZID=Europe/Berlin:20261001T020000\nDTEND;TZID=Europe/Berlin:20261001T030000\nRRULE:FREQ=DAILY';
  const copy = eventsOf({ ...read(shift), until: Date.parse('2027-04-10T00:00:00Z') });
  const days = copy.events.map(({ from }) => new Date(from).toISOString().slice(0, 10));
  expect(days).toContain('2027-03-27');
  expect(days).not.toContain('2027-03-28');
  expect(days).toContain('2027-03-29');
  expect(copy.leftOut).toBeUndefined();
});

test.each([
  ['DAILY;BYMONTH=2;BYMONTHDAY=30', undefined],
  ['YEARLY;BYMONTH=2;BYMONTHDAY=30', undefined],
  ['DAILY;INTERVAL=7;BYDAY=TU', undefined],
  ['HOURLY;INTERVAL=24;BYDAY=TU;BYMONTH=2;BYMONTHDAY=30', undefined],
  ['MONTHLY;INTERVAL=4800;BYDAY=5MO', [{ title: 'Ana', reason: 'unreadable' }]],
  ['DAILY;INTERVAL=2000000000', [{ title: 'Ana', reason: 'unreadable' }]],
  ['HOURLY;INTERVAL=90000000000', [{ title: 'Ana', reason: 'unreadable' }]],
  ['SECONDLY;BYMONTH=2;BYMONTHDAY=30', [{ title: 'Ana', reason: 'repeats-too-often' }]],
])(
  'a pattern that never comes (%s) ends, and the others count',
  (rule, leftOut) => {
    const never = `SUMMARY:Ana\nDTSTART:20261005T090000Z\nDURATION:PT1H\nRRULE:FREQ=${rule}`;
    const { events, leftOut: left } = names(
      [...Array.from({ length: 20 }, () => never), good].join('\n---\n'),
    );
    expect(new Set(events.filter((each) => each !== 'Ana'))).toEqual(new Set(['Ben']));
    expect(left).toEqual(leftOut);
  },
  60_000,
);

test('titles of events that are left out are cut to whole characters, and have no marks that turn or hide text', () => {
  const title = `\u202eevil\u2066 \u200b${'👩‍🚀'.repeat(100)}`;
  for (const bad of ['DTSTART:20261019T090000Z', 'DTSTART:someday', 'no property']) {
    const [left] = names(`SUMMARY:${title}\n${bad}\n---\n${good}`).leftOut ?? [];
    expect(left?.title).toMatch(/^evil (👩|\u200d|🚀)+$/u);
    expect(left?.title.length).toBeGreaterThan(150);
  }
});

test.each([
  'DURATION:P2000000000D',
  'DURATION:-P2000000000D',
  'DURATION:PT90000000000000S',
  'DTEND:99991231T000000Z',
])('an event of any length (%s) does not make the others wait', (end) => {
  for (const rule of ['', '\nRRULE:FREQ=DAILY']) {
    const long = `SUMMARY:Ana\nDTSTART:20261005T090000Z\n${end}${rule}`;
    expect(names(`${long}\n---\n${good}`).events).toContain('Ben');
  }
});

test('the title of an unreadable event is without its parameters', () => {
  const bad = 'SUMMARY;ALTREP="https://calendar.example/secret":Ana\nno property';
  expect(names(`${bad}\n---\n${good}`).leftOut).toEqual([{ title: 'Ana', reason: 'unreadable' }]);
});

test('of many bad events, ten are named, and the others of the file still count', () => {
  const bad = Array.from(
    { length: 30 },
    (_, i) => `SUMMARY:bad ${i}\nDTSTART:19700101T000000Z\nDURATION:PT1H\nRRULE:FREQ=SECONDLY`,
  );
  const { events, leftOut } = names([...bad, good].join('\n---\n'));
  expect(events).toEqual(['Ben']);
  expect(leftOut).toHaveLength(10);
});

test('an event without length that is over is not named', () => {
  expect(names(`SUMMARY:Ana\nDTSTART:20200101T090000Z\n---\n${good}`)).toEqual({ events: ['Ben'] });
});

test('an event that is marked as free counts: calendars mark whole days so, and on-call systems their shifts', () => {
  expect(names(`${good}\nTRANSP:TRANSPARENT`)).toEqual({ events: ['Ben'] });
});

test('a whole day without an end, or with an end on the same day, is one day', () => {
  const day = ['2026-10-23T22:00', '2026-10-24T22:00', 'Ana'];
  expect(times('SUMMARY:Ana\nDTSTART;VALUE=DATE:20261024')).toEqual([day]);
  expect(times('SUMMARY:Ana\nDTSTART;VALUE=DATE:20261024\nDTEND;VALUE=DATE:20261024')).toEqual([day]);
});

test('what is no calendar is refused with a sentence', () => {
  expect(() => eventsOf({ ...read(''), text: '<html>' })).toThrow('no iCalendar file');
});

test('a thread reads it, and is ended when that takes too long', async () => {
  const events = 'SUMMARY:Ana\nDTSTART:20261019T090000Z\nDTEND:20261019T170000Z';
  // Only the last one is about the limit: on a busy machine, a thread alone may take seconds to begin.
  const unhurried = 120_000;
  expect((await parseInThread(read(events), unhurried)).events).toMatchObject([{ text: 'Ana' }]);
  await expect(parseInThread({ ...read(''), text: '<html>' }, unhurried)).rejects.toThrow(
    'no iCalendar file',
  );
  const endless = 'SUMMARY:Ana\nDTSTART:19700101T000000Z\nRRULE:FREQ=SECONDLY';
  await expect(parseInThread(read(endless), 1)).rejects.toThrow('takes too long');
});
