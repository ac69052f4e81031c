/** Settings that depend on each other: the first owner, and the identity provider. */
import { passwordProblem } from './core/passwords.ts';

interface PeopleSettings {
  readonly BELFRY_ADMIN_EMAIL: string | undefined;
  readonly BELFRY_ADMIN_PASSWORD: string | undefined;
  readonly BELFRY_OIDC_ISSUER: string | undefined;
  readonly BELFRY_OIDC_CLIENT_ID: string | undefined;
  readonly BELFRY_OIDC_CLIENT_SECRET: string | undefined;
  readonly BELFRY_OIDC_NAME: string;
}

/** Problems between settings that are valid on their own; settings with an error are left out. */
export function problemsBetween(of: Partial<PeopleSettings>): string[] {
  const problems: string[] = [];
  const together = (a: keyof PeopleSettings, b: keyof PeopleSettings) => {
    if (a in of && b in of && (of[a] === undefined) !== (of[b] === undefined))
      problems.push(`${a} and ${b} belong together: set both, or neither`);
  };
  together('BELFRY_ADMIN_EMAIL', 'BELFRY_ADMIN_PASSWORD');
  together('BELFRY_OIDC_ISSUER', 'BELFRY_OIDC_CLIENT_ID');
  const { BELFRY_ADMIN_EMAIL: email, BELFRY_ADMIN_PASSWORD: password } = of;
  const problem = password === undefined ? undefined : passwordProblem(password, email ? [email] : []);
  if (problem !== undefined) problems.push(`BELFRY_ADMIN_PASSWORD ${problem}`);
  if (of.BELFRY_OIDC_CLIENT_SECRET !== undefined && 'BELFRY_OIDC_ISSUER' in of && !of.BELFRY_OIDC_ISSUER)
    problems.push('BELFRY_OIDC_CLIENT_SECRET is of no use without BELFRY_OIDC_ISSUER: set both, or neither');
  return problems;
}

/** The owner to create if there is no account. */
export function adminOf({ BELFRY_ADMIN_EMAIL: email, BELFRY_ADMIN_PASSWORD: password }: PeopleSettings) {
  return email === undefined || password === undefined ? undefined : Object.freeze({ email, password });
}

export function oidcOf(of: PeopleSettings) {
  const { BELFRY_OIDC_ISSUER: issuer, BELFRY_OIDC_CLIENT_ID: clientId } = of;
  if (issuer === undefined || clientId === undefined) return undefined;
  return Object.freeze({
    issuer,
    clientId,
    clientSecret: of.BELFRY_OIDC_CLIENT_SECRET,
    name: of.BELFRY_OIDC_NAME,
  });
}
