import { Type } from 'typebox';
import { Proof, ProofState } from '#contract/account.ts';
import { problems } from '../responses.ts';
import type { App } from '../services.ts';
import type { AccountContext } from './sign-in-limits.ts';

const own = { tags: ['account'], security: [{ session: [] }] };
const config = { policy: 'person' } as const;

/** That whoever is signed in is still there: asked for before what changes how they sign in. */
export function proofRoutes(app: App, { services: { signIn }, people, limits }: AccountContext): void {
  app.get(
    '/api/account/proof',
    {
      config,
      schema: {
        ...own,
        summary: 'Whether one has just proven who one is, and by what one can',
        response: { 200: ProofState, ...problems(401, 403, 429) },
      },
    },
    async ({ person: { person, session } }) => ({
      proven: signIn.isProven(session),
      ...(await signIn.waysToProve(person.id)),
    }),
  );

  app.post(
    '/api/account/proof',
    {
      config,
      schema: {
        ...own,
        summary: 'Prove who one is, by one’s password or a passkey',
        description:
          'Good for ten minutes in this session, as a sign-in is: within them passkeys can be added and removed, and other sessions ended.',
        body: Proof,
        response: {
          204: Type.Null({ description: 'Proven.' }),
          ...problems(400, 401, 403, 429, 503),
        },
      },
    },
    async (request, reply) => {
      const { person, session } = request.person;
      limits.take(request, reply, session.id);
      const { password, response } = request.body;
      const proof = password === undefined ? { passkey: response ?? {} } : { password };
      await signIn.prove(people.visit(request), request.person, proof);
      limits.proven(request, person.email);
      return reply.code(204).send(null);
    },
  );
}
