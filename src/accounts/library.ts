/** The library for accounts as this service sets it up. Loaded by the first request that needs it, and not before. */

import { APIError } from '@better-auth/core/error';
import { passkey } from '@better-auth/passkey';
import { betterAuth } from 'better-auth/minimal';
import { genericOAuth } from 'better-auth/plugins/generic-oauth';
import { twoFactor } from 'better-auth/plugins/two-factor';
import { uuidv7 } from 'uuidv7';
import type { AccountStore } from '#core/accounts.ts';
import { findEmail } from '#core/email.ts';
import { createAdapter } from './adapter.ts';
import { discoveryUrl, type OidcSettings, providerId } from './oidc-settings.ts';
import { hashPassword, passwordMatches } from './passwords.ts';
import { cookiePrefix } from './session-cookie.ts';
import { idleMs, rememberedMs } from './session-times.ts';
import { columnsOf, tableOf } from './tables.ts';
import { sourceHeader } from './visit-headers.ts';

export interface LibraryOptions {
  readonly store: AccountStore;
  readonly key: string;
  readonly now: () => number;
  /** Set where it is the provider that one signs in with. */
  readonly oidc?: OidcSettings;
  /** Hears of what the library itself found wrong; never with what a person typed. */
  readonly onProblem: (message: string, error: unknown) => void;
}

/** The library's log of one's own doings says who tried what: only its errors matter. */
type LogLevel = 'info' | 'warn' | 'error' | 'debug' | 'success';

export type Library = ReturnType<typeof createLibrary>;

/** The library for one origin: its cookies and passkeys are bound to it. */
export function createLibrary({ store, key, now, onProblem, oidc }: LibraryOptions, origin: string) {
  const isSecure = origin.startsWith('https:');
  return betterAuth({
    appName: 'Belfry',
    baseURL: origin,
    basePath: '/api/session',
    secret: key,
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      disableColors: true,
      log: (level: LogLevel, message: string, ...details: unknown[]) => {
        if (level === 'error')
          onProblem(
            message,
            details.find((detail) => detail instanceof Error),
          );
      },
    },
    database: createAdapter(store.rows),
    rateLimit: { enabled: false },
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: 1,
      maxPasswordLength: 256,
      password: {
        hash: hashPassword,
        verify: ({ hash, password }) => passwordMatches(hash, password),
      },
    },
    user: { modelName: tableOf.user, fields: columnsOf.user },
    session: {
      modelName: tableOf.session,
      fields: columnsOf.session,
      additionalFields: { remembered: { type: 'boolean', required: false, input: false } },
      expiresIn: rememberedMs / 1000,
      // Sessions are read and kept alive in accounts.ts, which knows those that are not remembered.
      disableSessionRefresh: true,
      freshAge: 0,
      cookieCache: { enabled: false },
    },
    account: {
      modelName: tableOf.account,
      fields: columnsOf.account,
      updateAccountOnSignIn: false,
      // To an address that somebody vouched for here, and that the provider has checked.
      accountLinking: { enabled: true, requireLocalEmailVerified: true, trustedProviders: [] },
    },
    onAPIError: { errorURL: `${origin}/sign-in` },
    verification: {
      modelName: tableOf.verification,
      fields: columnsOf.verification,
      storeIdentifier: 'hashed',
    },
    advanced: {
      cookiePrefix: cookiePrefix(isSecure),
      useSecureCookies: false,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure },
      // Who may call from where is decided before the library is asked.
      disableCSRFCheck: true,
      disableOriginCheck: true,
      ipAddress: { disableIpTracking: true },
      database: { generateId: () => uuidv7() },
    },
    databaseHooks: {
      // Only a provider makes people through the library: those who are invited.
      user: {
        create: {
          before: async ({ email, emailVerified, name }) => {
            const invitation = emailVerified ? await store.invitationFor(email, now()) : undefined;
            if (!invitation) throw refused('not_invited');
            return { data: { name: name.trim().slice(0, 100) || (email.split('@')[0] ?? email) } };
          },
          after: async ({ id, email }) => {
            const invitation = await store.invitationFor(email, now());
            if (invitation) await store.acceptInvitation(id, invitation, now());
          },
        },
      },
      // An identity at a provider: it was checked there, and may be the first to prove whose address it is.
      account: {
        create: {
          before: async ({ userId, providerId: provider }) => {
            // An address may be given to somebody else at the provider: a second identity is another person until proven.
            if (await hasIdentity(store, userId, provider)) throw refused('account_not_linked');
            if (!(await store.forgetUnproven(userId))) return;
            const by = (await store.find(userId))?.email ?? userId;
            const detail = { removed: true };
            await store.note(userId, { by, at: now(), action: 'account.password', subject: userId, detail });
          },
        },
      },
      session: {
        create: {
          before: async (session, context) => {
            const current = context?.context.session?.session as { remembered?: boolean } | undefined;
            const wanted = session as { expiresAt: Date; remembered?: boolean | null };
            const remembered =
              wanted.remembered ??
              current?.remembered ??
              wanted.expiresAt.getTime() - now() > longestForgotten;
            return {
              data: {
                remembered,
                expiresAt: new Date(now() + (remembered ? rememberedMs : idleMs)),
                ipAddress: context?.headers?.get(sourceHeader) ?? null,
                userAgent: context?.headers?.get('user-agent')?.slice(0, 300) ?? null,
              },
            };
          },
        },
      },
    },
    plugins: [
      ...(oidc ? [providerOf(oidc, origin)] : []),
      twoFactor({
        issuer: 'Belfry',
        twoFactorCookieMaxAge: 600,
        schema: {
          user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
          twoFactor: { modelName: tableOf.twoFactor, fields: columnsOf.twoFactor },
        },
      }),
      passkey({
        rpName: 'Belfry',
        rpID: new URL(origin).hostname,
        origin,
        advanced: { webAuthnChallengeCookie: 'passkey' },
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        // A passkey stands for both factors: it must have seen its owner, by a finger or a code.
        authentication: {
          afterVerification: async ({ verification }) => {
            if (!verification.authenticationInfo.userVerified) throw refused('AUTHENTICATION_FAILED');
          },
        },
        schema: { passkey: { modelName: tableOf.passkey, fields: columnsOf.passkey } },
      }),
    ],
  });
}

function providerOf({ issuer, clientId, clientSecret, name }: OidcSettings, origin: string) {
  return genericOAuth({
    config: [
      {
        providerId,
        name,
        clientId,
        ...(clientSecret !== undefined && { clientSecret }),
        discoveryUrl: discoveryUrl(issuer),
        requireIdTokenVerification: true,
        pkce: true,
        scopes: ['openid', 'email', 'profile'],
        redirectURI: `${origin}/api/session/oidc/${providerId}/callback`,
        // Whatever is not clearly verified is not; and an address is kept as our own are.
        mapProfileToUser: (profile) => ({
          email: findEmail(String(profile.email ?? '')) ?? null,
          emailVerified: profile.email_verified === true,
        }),
      },
    ],
  });
}

/** Whether the person signs in with another identity at this provider. */
async function hasIdentity({ rows }: AccountStore, person: string, provider: string): Promise<boolean> {
  const is = (column: string, value: string) => ({ column, operator: '=', value, or: false }) as const;
  return (await rows.count(tableOf.account, [is('person', person), is('provider', provider)])) > 0;
}

function refused(code: string): APIError {
  return APIError.from('FORBIDDEN', { code, message: code });
}

/** Whatever the library gives a session that is not remembered is shorter than this. */
const longestForgotten = 48 * 3_600_000;
