import type { FastifyBaseLogger, FastifyReply } from 'fastify';
import type { AuditAction, AuditDetail } from '#contract/people/audit-words.ts';
import type { SignedIn } from '#contract/people/session.ts';
import type { People } from '../callers/people.ts';
import type { Services } from '../services.ts';
import type { SignInLimits } from './sign-in-limits.ts';

/** The context of the routes for accounts. */
export interface AccountContext {
  readonly services: Services;
  readonly people: People;
  readonly limits: SignInLimits;
  readonly logger: FastifyBaseLogger;
}

/**
 * Adds a line to the audit log of every tenant the person belongs to. The event has already happened, so a failure to
 * write the line is logged and the request succeeds.
 */
export async function note(
  { services, logger }: AccountContext,
  personId: string,
  action: AuditAction,
  detail: AuditDetail,
): Promise<void> {
  const { accounts, now } = services;
  const at = now();
  try {
    const person = await accounts.find(personId);
    if (person) await accounts.note(personId, { by: person.email, at, action, subject: personId, detail });
  } catch (error) {
    logger.error({ err: error, action }, 'an audit line was not written');
  }
}

/** Answers that the person is signed in. */
export function signedIn(reply: FastifyReply, cookies: readonly string[], twoFactor = false): SignedIn {
  setCookies(reply, cookies);
  return { ok: true, twoFactor };
}

/** Sets cookies on an answer. */
export function setCookies(reply: FastifyReply, cookies: readonly string[]): void {
  if (cookies.length > 0) reply.header('set-cookie', [...cookies]);
}
