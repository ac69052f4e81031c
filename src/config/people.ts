/** Settings that depend on each other: the first owner, and the identity provider. */
import { passwordProblem } from '../core/people/passwords.ts';
import { email, issuerUrl, label, password, secret } from './values.ts';
import { optional, optionalSecret, type SettingsOf, setting } from './variable.ts';

export const peopleVariables = {
  BELFRY_ADMIN_EMAIL: optional(
    email,
    'email address of the owner that is created when there is no account yet',
  ),
  BELFRY_ADMIN_PASSWORD: optionalSecret(password, 'password of that owner'),
  BELFRY_OIDC_ISSUER: optional(issuerUrl, 'identity provider (OpenID Connect) that people may sign in with'),
  BELFRY_OIDC_CLIENT_ID: optional(secret, 'client id of this server at the provider'),
  BELFRY_OIDC_CLIENT_SECRET: optionalSecret(
    secret,
    'client secret at the provider; none for a public client',
  ),
  BELFRY_OIDC_NAME: setting('Single sign-on', label, 'name of the provider on the sign-in page'),
};

type PeopleSettings = SettingsOf<typeof peopleVariables>;

/** Problems between settings. A setting with an error is not in `of`, but it is set. */
export function problemsBetween(of: Partial<PeopleSettings>): string[] {
  const problems: string[] = [];
  const isSet = (name: keyof PeopleSettings) => !(name in of) || of[name] !== undefined;
  const together = (a: keyof PeopleSettings, b: keyof PeopleSettings) => {
    if (isSet(a) !== isSet(b)) problems.push(`${a} and ${b} belong together: set both, or neither`);
  };
  together('BELFRY_ADMIN_EMAIL', 'BELFRY_ADMIN_PASSWORD');
  together('BELFRY_OIDC_ISSUER', 'BELFRY_OIDC_CLIENT_ID');
  const { BELFRY_ADMIN_EMAIL: address, BELFRY_ADMIN_PASSWORD: chosen } = of;
  const problem = chosen === undefined ? undefined : passwordProblem(chosen, address ? [address] : []);
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
