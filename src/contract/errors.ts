import { type Static, Type } from 'typebox';

/** The closed list of what can go wrong for a caller. `http/server.ts` maps each to its status. */
export const errorCodes = [
  'bad-request',
  'unauthorized',
  'forbidden',
  'not-found',
  'method-not-allowed',
  'timeout',
  'conflict',
  'gone',
  'too-large',
  'unsupported-type',
  'headers-too-large',
  'rate-limited',
  'internal',
  'unavailable',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Every answer that is not a success: one field, a sentence that names what is wrong and what would be right. */
export const ErrorBody = Type.Object(
  { error: Type.String() },
  { title: 'Error', additionalProperties: false },
);
export type ErrorBody = Static<typeof ErrorBody>;
