import { type Static, Type } from 'typebox';
import { component, NamedRef, nullable } from '../schema.ts';

/** The next notification of a key is expected in time. */
export const Expectation = component('Expectation', {
  key: Type.String(),
  state: Type.Enum(['waiting', 'overdue']),
  everyMs: Type.Integer({ minimum: 1, description: 'The time that the sender named.' }),
  level: Type.String({
    description: 'Level of the notification that Belfry sends when the next one does not come in time.',
  }),
  title: Type.String({ description: 'Of the last notification.' }),
  host: nullable(Type.String()),
  token: NamedRef,
  lastAt: Type.String({ format: 'date-time', description: 'When the last one came.' }),
  overdueAt: Type.String({
    format: 'date-time',
    description: 'Until then, with some grace, the next one may come.',
  }),
  notificationId: nullable(Type.String({ format: 'uuid' }), {
    description: 'The notification that Belfry sent because the next one did not come; null before that.',
  }),
});
export type Expectation = Static<typeof Expectation>;

export const ExpectationList = component('ExpectationList', { expectations: Type.Array(Expectation) });
export type ExpectationList = Static<typeof ExpectationList>;
