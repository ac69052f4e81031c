import { type TSchema, Type } from 'typebox';
import { ErrorBody } from '#contract/errors.ts';

const meaning: Readonly<Record<number, string>> = {
  400: 'The request is not valid; the text says what would be right.',
  401: 'No credential, or none that is in force.',
  403: 'The credential may not do this.',
  404: 'There is no such thing in this tenant.',
  408: 'The caller closed its side of the connection before the work was done.',
  409: 'It conflicts with what is there.',
  410: 'It is over.',
  413: 'The body is too large.',
  415: 'The body is of a type that is not taken.',
  429: 'Too many; Retry-After says when to come back.',
  503: 'Not now; Retry-After says when to come back.',
};

/** The answers of a route that are not a success, for its schema. Who may be a 401 may also fail too often. */
export function problems(...statuses: number[]): Record<number, TSchema> {
  const all = new Set(statuses.includes(401) ? [...statuses, 429] : statuses);
  return Object.fromEntries(
    [...all].map((status) => [
      status,
      Type.Object(ErrorBody.properties, {
        title: 'Error',
        additionalProperties: false,
        description: meaning[status] ?? '',
      }),
    ]),
  );
}
