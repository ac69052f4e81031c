import {
  BackupCodes,
  PasswordProof,
  SignedIn,
  TwoFactorBegun,
  TwoFactorCode,
  TwoFactorSignIn,
} from '#contract/people/account.ts';
import { NoContent, problems, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import { type AccountContext, note, setCookies, signedIn } from './account-context.ts';

/** Two-factor authentication: signing in with it, and setting it up. */
export function twoFactorRoutes(app: App, context: AccountContext): void {
  signInRoute(app, context);
  ownRoutes(app, context);
}

function signInRoute(app: App, context: AccountContext): void {
  const { services, people, limits } = context;

  app.post(
    '/api/session/two-factor',
    route('public', {
      tags: ['account'],
      summary: 'Finish signing in with a code of the second factor',
      description:
        'After POST /api/session has answered `twoFactor`, from the same browser, within ten minutes.',
      body: TwoFactorSignIn,
      response: { 200: SignedIn, ...problems(401, 403, 409) },
    }),
    async (request, reply) => {
      const visit = people.visit(request);
      const { code, kind, trustDevice = false } = request.body;
      await limits.take(request, reply);
      const factor = { code: code.trim(), kind, trustDevice };
      const { cookies, personId } = await services.signIn.withSecondFactor(visit, factor);
      await note(context, personId, 'session.begin', { from: visit.source, with: kind });
      return signedIn(reply, cookies);
    },
  );
}

function ownRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { signIn } = services;

  app.post(
    '/api/account/two-factor',
    route('person', {
      summary: 'Begin to set up a second factor',
      description:
        'Active after POST /api/account/two-factor/verify with a code. The answer is not shown again.',
      body: PasswordProof,
      response: { 200: TwoFactorBegun, ...problems(409) },
    }),
    async (request, reply) => {
      await limits.take(request, reply, request.person.session.id);
      const { totpUri, backupCodes } = await signIn.beginTwoFactor(
        people.visit(request),
        request.body.password,
      );
      return { totpUri, backupCodes: [...backupCodes] };
    },
  );

  app.post(
    '/api/account/two-factor/verify',
    route('person', {
      summary: 'Activate the second factor with a code',
      body: TwoFactorCode,
      response: { 204: NoContent, ...problems(409) },
    }),
    async (request, reply) => {
      const { person, session } = request.person;
      await limits.take(request, reply, session.id);
      const { cookies } = await signIn.proveTwoFactor(people.visit(request), request.body.code);
      if (!person.twoFactor) await note(context, person.id, 'account.two-factor', { on: true });
      setCookies(reply, cookies);
    },
  );

  app.delete(
    '/api/account/two-factor',
    route('person', {
      summary: 'Remove the second factor',
      body: PasswordProof,
      response: { 204: NoContent },
    }),
    async (request, reply) => {
      const { person, session } = request.person;
      await limits.take(request, reply, session.id);
      const { cookies } = await signIn.removeTwoFactor(people.visit(request), request.body.password);
      if (person.twoFactor) await note(context, person.id, 'account.two-factor', { on: false });
      setCookies(reply, cookies);
    },
  );

  app.post(
    '/api/account/two-factor/backup-codes',
    route('person', {
      summary: 'New backup codes, each valid for one sign-in; the old ones no longer work',
      body: PasswordProof,
      response: { 200: BackupCodes, ...problems(409) },
    }),
    async (request, reply) => {
      const { person, session } = request.person;
      await limits.take(request, reply, session.id);
      const backupCodes = await signIn.backupCodes(people.visit(request), request.body.password);
      await note(context, person.id, 'account.backup-codes', {});
      return { backupCodes: [...backupCodes] };
    },
  );
}
