import { Type } from 'typebox';
import { BackupCodes, PasswordProof, TwoFactorBegun, TwoFactorCode } from '#contract/account.ts';
import { SignedIn, TwoFactorSignIn } from '#contract/session.ts';
import { AppError } from '#core/errors.ts';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import { note } from './account-notes.ts';
import { setCookies } from './cookies.ts';
import type { AccountContext } from './sign-in-limits.ts';

/** Whoever asks for the same again while it is under way is refused: two of them would be in each other's way. */
class OneAtATime {
  readonly #busy = new Set<string>();
  readonly #refusal: string;

  constructor(refusal: string) {
    this.#refusal = refusal;
  }

  /** @throws AppError `conflict` while `key` is under way. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(key)) throw new AppError('conflict', this.#refusal);
    this.#busy.add(key);
    try {
      return await work();
    } finally {
      this.#busy.delete(key);
    }
  }
}

const own = { tags: ['account'], security: [{ session: [] }] };

/** The second factor: signing in with it, and setting it up. */
export function twoFactorRoutes(app: App, context: AccountContext): void {
  signInRoute(app, context);
  ownRoutes(app, context);
}

function signInRoute(app: App, context: AccountContext): void {
  const { services, people, limits } = context;

  app.post(
    '/api/session/two-factor',
    {
      config: { policy: 'public' },
      schema: {
        tags: ['account'],
        summary: 'Finish signing in with a code of the second factor',
        description:
          'After POST /api/session has answered `twoFactor`, from the same browser, within ten minutes.',
        body: TwoFactorSignIn,
        response: { 200: SignedIn, ...problems(400, 401, 403, 409, 503) },
      },
    },
    async (request, reply) => {
      const visit = people.visit(request);
      const { code, kind, trustDevice = false } = request.body;
      limits.take(request, reply);
      const factor = { code: code.trim(), kind, trustDevice };
      const { cookies, personId } = await services.signIn.withSecondFactor(visit, factor);
      await note(context, personId, 'session.begin', { from: visit.source, with: kind });
      setCookies(reply, cookies);
      return { ok: true as const, twoFactor: false };
    },
  );
}

function ownRoutes(app: App, context: AccountContext): void {
  const { services, people, limits } = context;
  const { signIn } = services;
  const config = { policy: 'person' } as const;
  const beginning = new OneAtATime('a second factor is being set up already: wait for its answer');

  app.post(
    '/api/account/two-factor',
    {
      config,
      schema: {
        ...own,
        summary: 'Begin to set up a second factor',
        description:
          'In force once POST /api/account/two-factor/verify has seen a code. The answer is not shown again.',
        body: PasswordProof,
        response: { 200: TwoFactorBegun, ...problems(400, 401, 403, 409, 503) },
      },
    },
    async (request, reply) => {
      limits.take(request, reply, request.person.session.id);
      const { totpUri, backupCodes } = await beginning.run(request.person.person.id, () =>
        signIn.beginTwoFactor(people.visit(request), request.body.password),
      );
      reply.header('cache-control', 'no-store');
      return { totpUri, backupCodes: [...backupCodes] };
    },
  );

  app.post(
    '/api/account/two-factor/verify',
    {
      config,
      schema: {
        ...own,
        summary: 'Prove the second factor with a code, after which it is in force',
        body: TwoFactorCode,
        response: { 204: Type.Null({ description: 'In force.' }), ...problems(400, 401, 403, 409, 503) },
      },
    },
    async (request, reply) => {
      const { person, session } = request.person;
      limits.take(request, reply, session.id);
      const { cookies } = await signIn.proveTwoFactor(people.visit(request), request.body.code);
      if (!person.twoFactor) await note(context, person.id, 'account.two-factor', { on: true });
      setCookies(reply, cookies);
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/api/account/two-factor',
    {
      config,
      schema: {
        ...own,
        summary: 'Remove the second factor',
        body: PasswordProof,
        response: { 204: Type.Null({ description: 'Removed.' }), ...problems(400, 401, 403, 503) },
      },
    },
    async (request, reply) => {
      const { person, session } = request.person;
      limits.take(request, reply, session.id);
      const { cookies } = await signIn.removeTwoFactor(people.visit(request), request.body.password);
      if (person.twoFactor) await note(context, person.id, 'account.two-factor', { on: false });
      setCookies(reply, cookies);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/api/account/two-factor/backup-codes',
    {
      config,
      schema: {
        ...own,
        summary: 'New backup codes, each good for one sign-in; the old ones are void',
        body: PasswordProof,
        response: { 200: BackupCodes, ...problems(400, 401, 403, 409, 503) },
      },
    },
    async (request, reply) => {
      const { person, session } = request.person;
      limits.take(request, reply, session.id);
      const backupCodes = await signIn.backupCodes(people.visit(request), request.body.password);
      await note(context, person.id, 'account.backup-codes', {});
      reply.header('cache-control', 'no-store');
      return { backupCodes: [...backupCodes] };
    },
  );
}
