/** The identity provider that people sign in with. */
export interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  /** As the sign-in page calls it. */
  readonly name: string;
}

/** There is one provider; its name in paths. */
export const providerId = 'oidc';

export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
}
