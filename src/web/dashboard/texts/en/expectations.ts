/** The page of expectations. */
export const expectations = {
  about:
    'Heartbeats: a sender says when its next notification is due. If it does not arrive in time, Belfry sends an alert.',
  filter: 'Filter by key, title, host or token',
  empty: 'Nothing is expected',
  emptyText:
    'Know when a backup or cron job stops running. Add a key and the header X-Expect-Every to its notifications, for example (with a token in place of TOKEN):',
  example: 'Expect the next one',
  nothing: 'No expectation matches the filter.',
  every: 'Interval',
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
    'Belfry no longer waits for the next one, until a sender expects it again. If it is overdue, its overdue notification is cleared.',
} as const;
