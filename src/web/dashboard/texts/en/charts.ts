export const charts = {
  time: 'Time',
  sum: 'All',
  nothing: 'nothing',
  asTable: 'Show as a table',
} as const;
