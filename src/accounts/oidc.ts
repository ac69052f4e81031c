import { AppError, notFound, unavailable } from '#core/errors.ts';
import type { SignIn } from '#core/sign-in.ts';
import { createAsk } from './ask.ts';
import type { LibraryOptions } from './library.ts';
import { discoveryUrl, type OidcSettings, providerId } from './oidc-settings.ts';
import { without } from './visit-headers.ts';

interface Oidc extends Pick<SignIn, 'providers' | 'providerUrl'> {
  /** As in `SignIn`, which finds out who it was. */
  fromProvider(
    ...of: Parameters<SignIn['fromProvider']>
  ): Promise<Omit<Awaited<ReturnType<SignIn['fromProvider']>>, 'personId'>>;
}

const discoveryMs = 5_000;
/** What went wrong, as the sign-in page knows it; everything else is `provider`. */
const reasons: Readonly<Record<string, string>> = {
  access_denied: 'denied',
  account_not_linked: 'not-linked',
  not_invited: 'not-invited',
  email_not_verified: 'not-verified',
  email_not_found: 'not-verified',
  state_mismatch: 'expired',
  state_not_found: 'expired',
  please_restart_the_process: 'expired',
};

/** Signing in with an identity provider. It is asked about itself by the first who wants to, and not at the start. */
export function createOidc(options: () => LibraryOptions, settings: OidcSettings | undefined): Oidc {
  if (!settings) {
    const none = async () => {
      throw notFound('provider');
    };
    return { providers: [], providerUrl: none, fromProvider: none };
  }
  // A set-up of its own: one whose provider does not answer is made anew, and passwords know nothing of it.
  let ask = createAsk(() => ({ ...options(), oidc: settings }));
  const known = (provider: string) => {
    if (provider !== providerId) throw notFound('provider');
  };

  return {
    providers: [{ id: providerId, name: settings.name }],

    async providerUrl(visit, provider, returnTo) {
      known(provider);
      await probe(settings.issuer);
      const begin = () =>
        ask(without(visit, 'session_token', 'dont_remember'), (api, headers) =>
          api.signInSocial({
            body: {
              provider: providerId,
              callbackURL: ownPath(returnTo),
              errorCallbackURL: '/sign-in',
              disableRedirect: true,
            },
            headers,
            returnHeaders: true,
          }),
        );
      const { headers, response } = await begin().catch((error: unknown) => {
        // It was set up while the provider was away: with a new one the provider is asked again.
        ask = createAsk(() => ({ ...options(), oidc: settings }));
        if (error instanceof AppError && error.code === 'not-found') return begin();
        throw error;
      });
      if (!response.url) throw new Error('the library gave no address of the provider');
      return { cookies: headers.getSetCookie(), url: response.url };
    },

    async fromProvider(visit, provider, query) {
      known(provider);
      const answer = (await ask(without(visit, 'session_token', 'dont_remember'), (api, headers) =>
        api.callbackOAuth({ params: { id: providerId }, query, headers, method: 'GET', asResponse: true }),
      )) as unknown as Response;
      const target = new URL(answer.headers.get('location') ?? '/', visit.origin);
      const error = target.searchParams.get('error');
      const isBack = error === null && target.origin === visit.origin;
      return {
        cookies: answer.headers.getSetCookie(),
        // Judged again: "/.//host" is "//host" once its dots are followed.
        path: isBack
          ? ownPath(target.pathname + target.search)
          : `/sign-in?error=${reasons[error ?? ''] ?? 'provider'}`,
      };
    },
  };
}

/** A path of ours and nothing that a browser could take for another host's. */
function ownPath(text: string): string {
  return /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes('\\') ? text : '/';
}

/** @throws AppError `unavailable` when the provider does not say who it is, or says it is somebody else. */
async function probe(issuer: string): Promise<void> {
  try {
    const response = await fetch(discoveryUrl(issuer), { signal: AbortSignal.timeout(discoveryMs) });
    const { issuer: own } = (await response.json()) as { issuer?: unknown };
    // Some write a slash at the end of their name, which a setting loses.
    if (response.ok && (own === issuer || own === `${issuer}/`)) return;
  } catch (error) {
    throw unavailable('the identity provider does not answer; try again, or sign in with a password', error);
  }
  throw unavailable(
    'the identity provider calls itself by another name: BELFRY_OIDC_ISSUER must be exactly that',
  );
}
