import { Proof, ProofState } from '#contract/people/account.ts';
import { NoContent, route } from '../openapi/route-schemas.ts';
import type { App } from '../services.ts';
import type { AccountContext } from './account-context.ts';

/** Reauthentication: required before a person changes how they sign in. */
export function proofRoutes(app: App, { services: { signIn }, people, limits }: AccountContext): void {
  app.get(
    '/api/account/proof',
    route('person', {
      summary: 'Whether the session is reauthenticated, and the ways to do so',
      response: { 200: ProofState },
    }),
    async ({ person: { person, session } }) => ({
      proven: signIn.isReauthenticated(session),
      ...(await signIn.reauthenticationMethods(person.id)),
    }),
  );

  app.post(
    '/api/account/proof',
    route('person', {
      summary: 'Reauthenticate with a password or a passkey',
      description:
        'Valid for ten minutes in this session, like a sign-in: in this time passkeys can be added and removed, and other sessions ended.',
      body: Proof,
      response: {
        204: NoContent,
      },
    }),
    async (request, reply) => {
      const { person, session } = request.person;
      await limits.take(request, reply, session.id);
      const { password, response } = request.body;
      const proof = password === undefined ? { passkey: response ?? {} } : { password };
      await signIn.reauthenticate(people.visit(request), request.person, proof);
      limits.proven(request, person.email);
      return reply.code(204).send(null);
    },
  );
}
