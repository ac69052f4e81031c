/** What the library refuses, in our words: nothing of its own reaches a caller. */
import type { ErrorCode } from '#contract/errors.ts';
import { AppError } from '#core/errors.ts';

type Told = readonly [code: ErrorCode, message: string, retryAfterSeconds?: number];

export const wrongPassword = () => new AppError('unauthorized', 'e-mail or password is wrong');
const beginAgain: Told = ['unauthorized', 'this sign-in is over: begin again with your password'];
export const signInIsOver = () => new AppError(beginAgain[0], beginAgain[1]);
const noSecondFactor: Told = ['conflict', 'there is no second factor: set one up first'];
const passkeyFailed: Told = ['bad-request', 'the passkey could not be checked: try again'];
const noChallenge: Told = ['bad-request', 'this took too long: try again'];

const told: Readonly<Record<string, Told>> = {
  INVALID_EMAIL_OR_PASSWORD: ['unauthorized', 'e-mail or password is wrong'],
  INVALID_EMAIL: ['unauthorized', 'e-mail or password is wrong'],
  INVALID_PASSWORD: ['forbidden', 'the password is wrong'],
  CREDENTIAL_ACCOUNT_NOT_FOUND: ['conflict', 'this account has no password: an administrator can set one'],
  UNAUTHORIZED: ['unauthorized', 'unauthorized'],
  INVALID_TWO_FACTOR_COOKIE: beginAgain,
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: beginAgain,
  INVALID_CODE: ['unauthorized', 'the code is wrong'],
  INVALID_BACKUP_CODE: ['unauthorized', 'the code is wrong, or was used before'],
  ACCOUNT_TEMPORARILY_LOCKED: [
    'rate-limited',
    'too many wrong codes: try again in a quarter of an hour',
    900,
  ],
  TOTP_NOT_ENABLED: noSecondFactor,
  TWO_FACTOR_NOT_ENABLED: noSecondFactor,
  BACKUP_CODES_NOT_ENABLED: noSecondFactor,
  TOTP_ALREADY_ENABLED: ['conflict', 'there is a second factor already: remove it first'],
  CHALLENGE_NOT_FOUND: noChallenge,
  PASSKEY_NOT_FOUND: ['unauthorized', 'this passkey is not known here'],
  AUTHENTICATION_FAILED: passkeyFailed,
  FAILED_TO_VERIFY_REGISTRATION: passkeyFailed,
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: passkeyFailed,
  PROVIDER_NOT_FOUND: ['not-found', 'provider not found'],
  PREVIOUSLY_REGISTERED: ['conflict', 'this passkey is known already'],
};

/** The library's refusal as an AppError; what is none of its refusals, or not expected, stays what it is. */
export function translate(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof AppError) return error;
  const { body, statusCode } = error as { body?: { code?: unknown }; statusCode?: number };
  const known =
    typeof body?.code === 'string' && Object.hasOwn(told, body.code) ? told[body.code] : undefined;
  if (known) {
    const [code, message, retryAfterSeconds] = known;
    return new AppError(code, message, {
      cause: error,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
  // The cipher says no more than this, and it has no code.
  if (error.message === 'invalid tag')
    return new AppError(
      'conflict',
      'this second factor was sealed with another key: put the key file back, or have an administrator remove it',
      { cause: error },
    );
  // A body that its own schema does not take: ours was checked before, so it is a value that is no good.
  if (statusCode === 400)
    return new AppError('bad-request', 'what was sent cannot be used', { cause: error });
  return error;
}
