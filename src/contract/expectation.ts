import { type Static, Type } from 'typebox';

/** The next notification of a key is expected in time. */
export const Expectation = Type.Object(
  {
    key: Type.String(),
    state: Type.Enum(['waiting', 'overdue']),
    everyMs: Type.Integer({ minimum: 1, description: 'The time that the sender named.' }),
    level: Type.String({ description: 'Of the notification that tells when the next one does not come.' }),
    title: Type.String({ description: 'Of the last notification.' }),
    host: Type.Union([Type.String(), Type.Null()]),
    token: Type.Object({ id: Type.String(), name: Type.String() }, { additionalProperties: false }),
    lastAt: Type.String({ format: 'date-time', description: 'When the last one came.' }),
    overdueAt: Type.String({
      format: 'date-time',
      description: 'Until then, with some grace, the next one may come.',
    }),
    notificationId: Type.Union([Type.String({ format: 'uuid' }), Type.Null()], {
      description: 'The notification that tells that it has not come; null while there is time.',
    }),
  },
  { title: 'Expectation', additionalProperties: false },
);
export type Expectation = Static<typeof Expectation>;

export const ExpectationList = Type.Object(
  { expectations: Type.Array(Expectation) },
  { title: 'ExpectationList', additionalProperties: false },
);
export type ExpectationList = Static<typeof ExpectationList>;
