export const charts = {
  time: 'Time',
  sum: 'All',
  nothing: 'nothing',
  asBars: 'Show as bars',
} as const;
