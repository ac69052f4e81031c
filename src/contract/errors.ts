import { type Static, Type } from 'typebox';
import { component } from './schema.ts';

interface ErrorKind {
  readonly status: number;
  readonly meaning: string;
}

/**
 * The closed list of what can go wrong for a caller. Every error answer carries its code in the header `Belfry-Error`, so
 * that programs never read the sentence in the body. The codes with a dot say more than their status does.
 */
export const errors = {
  'bad-request': { status: 400, meaning: 'The request is not valid; the text says what would be right.' },
  'cursor.invalid': { status: 400, meaning: 'The cursor cannot be read: begin without one.' },
  'query.invalid': { status: 400, meaning: 'The search cannot be read.' },
  'query.unknown-key': { status: 400, meaning: 'The search uses a key that does not exist.' },
  'query.unknown-value': { status: 400, meaning: 'The search names something that does not exist.' },
  unauthorized: { status: 401, meaning: 'No credential, or none that is in force.' },
  forbidden: { status: 403, meaning: 'The credential may not do this.' },
  'tenant.suspended': { status: 403, meaning: 'The operator of the server has suspended the tenant.' },
  'proof.required': { status: 403, meaning: 'The person must first confirm who they are.' },
  'not-found': { status: 404, meaning: 'There is no such thing in this tenant.' },
  'pairing.unknown-code': { status: 404, meaning: 'No screen shows this code, or not any more.' },
  'method-not-allowed': { status: 405, meaning: 'The path takes other methods; Allow names them.' },
  timeout: { status: 408, meaning: 'The request took too long to arrive.' },
  conflict: { status: 409, meaning: 'It conflicts with what is there.' },
  gone: { status: 410, meaning: 'It is over.' },
  'too-large': { status: 413, meaning: 'The body is too large; the text names the limit.' },
  'unsupported-type': { status: 415, meaning: 'The body is of a type that is not taken.' },
  'expectation-failed': { status: 417, meaning: 'Only Expect: 100-continue is understood.' },
  'rate-limited': { status: 429, meaning: 'Too many; Retry-After says when to come back.' },
  'headers-too-large': { status: 431, meaning: 'The headers are too large or too many.' },
  internal: { status: 500, meaning: 'A bug; the log of the server has the details.' },
  unavailable: { status: 503, meaning: 'Not now; Retry-After says when to come back.' },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof errors;

/** The body of every error: one sentence with what is wrong and what would be right. */
export const ErrorBody = component('Error', { error: Type.String() });
export type ErrorBody = Static<typeof ErrorBody>;

/** Clients of ntfy read these fields: https://github.com/binwiederhier/ntfy/blob/main/server/errors.go */
const NtfyError = component('NtfyError', {
  error: Type.String(),
  code: Type.Integer({ description: "The status, and two digits of ntfy's own." }),
  http: Type.Integer({ description: 'The status.' }),
  link: Type.String(),
});
/** Clients of Gotify read these: https://gotify.net/api-docs */
const GotifyError = component('GotifyError', {
  error: Type.String(),
  errorCode: Type.Integer({ description: 'The status.' }),
  errorDescription: Type.String(),
});

const protocolOf = (path: string): 'ntfy' | 'gotify' | undefined =>
  /^\/(ntfy|gotify)(?=[/?#]|$)/.exec(path)?.[1] as 'ntfy' | 'gotify' | undefined;

/** The schema of an error's body at this path. */
export function errorSchemaAt(path: string) {
  const protocol = protocolOf(path);
  return protocol === 'ntfy' ? NtfyError : protocol === 'gotify' ? GotifyError : ErrorBody;
}

/** The body of an error. At the paths of ntfy and Gotify it also has the fields that their clients read. */
export function errorBodyAt(
  path: string,
  status: number,
  error: string,
): ErrorBody | Static<typeof NtfyError> | Static<typeof GotifyError> {
  const protocol = protocolOf(path);
  if (protocol === 'gotify') return { error, errorCode: status, errorDescription: error };
  if (protocol === undefined) return { error };
  const code = status * 100 + (status === 400 ? 0 : 1);
  return { error, code, http: status, link: 'https://docs.ntfy.sh/publish/' };
}
