/** The page of the tenant's settings. */
export const tenant = {
  about: 'Settings for the whole tenant.',
  nameSection: 'Name',
  nameHint: 'Members see this name in the navigation. Panels show it in their footer.',
  tenantTitle: 'Tenant name',
  shortName: 'is the short name used in URLs and commands. It can’t be changed.',
  daysFact: 'Retention by age',
  countFact: 'Retention by count',
  name: 'Short name',
  timeZoneHint:
    'Used for times on these pages, for rule schedules, and for panels without their own time zone.',
  timeThere: 'Current time:',
  retention: 'History retention',
  retentionHint: 'Notifications are deleted for good when they reach either limit, oldest first.',
  days: 'By age',
  daysValue_one: '{{count}} day',
  daysValue_other: '{{count}} days',
  daysWrong: 'Enter more than 0 and at most 36,500 days.',
  count: 'By count',
  countUnit: 'notifications',
  countValue_one: '{{n}} notification',
  countValue_other: '{{n}} notifications',
  countWrong: 'Enter a whole number from 1 to 1,000,000,000.',
  retentionShrinks:
    'Saving deletes all notifications beyond this limit within minutes. This can’t be undone.',
  daysBound_one: 'This server keeps at most {{count}} day.',
  daysBound_other: 'This server keeps at most {{count}} days.',
  countBound: 'This server keeps at most {{n}} notifications per tenant.',
  rateBound: 'This server allows at most {{perSecond}} per second and bursts of {{burst}} per tenant.',
  rateLabel: 'All tokens combined',
  rateHint:
    'Limits how fast all senders of this tenant can send. Excess requests get a 429 response, and each token also has its own limit.',
  rateCritical:
    'Critical notifications have a separate limit of the same size, so other notifications can’t block them.',
} as const;
