/** As rules write them; apart from the rule's schema, which no page should have to load for seven words. */
export const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
