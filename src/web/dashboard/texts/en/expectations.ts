/** The page of expectations. */
export const expectations = {
  title: 'Expectations',
  about:
    'Senders say that a notification comes again. When it does not come in time, Belfry sends one itself.',
  keys: '/ filter · ↑ ↓ select · Enter open',
  filter: 'Filter by key, title, host or token',
  empty: 'Nothing is expected',
  emptyText:
    'A sender begins an expectation with a key and X-Expect-Every. Send this, with a token in place of TOKEN:',
  example: 'Expect the next one',
  nothing: 'No expectation matches the filter.',
  more_one: '{{count}} more. Use the filter to find it.',
  more_other: '{{count}} more. Use the filter to find them.',
  what: 'Notification',
  key: 'Key',
  host: 'Host',
  token: 'Token',
  every: 'Every',
  last: 'Last received',
  state: 'Next one',
  level: 'Level when overdue',
  sent: 'Sent because it is overdue',
  open: 'Open notification',
  overdue: 'overdue',
  due: 'due {{time}}',
  end: 'End expectation…',
  endDo: 'End expectation',
  endTitle: 'End the expectation “{{title}}”?',
  endAbout:
    'Belfry no longer waits for the next one, until a sender expects it again. If it is overdue, the notification about that leaves the panels.',
} as const;
