import type { AccountContext } from './sign-in-limits.ts';

/**
 * A line in the audit log of every tenant the person belongs to. What it is about has happened: that it could not be
 * written down is logged, and fails nobody.
 */
export async function note(
  { services, logger }: AccountContext,
  personId: string,
  action: string,
  detail: Readonly<Record<string, unknown>>,
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
