/** Schemas and options that route definitions share. */
import type { FastifyContextConfig, FastifySchema, preHandlerHookHandler, RouteOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { ErrorBody, errors } from '#contract/errors.ts';
import { type Role, roles, type Scope, scopes } from '#contract/people/token.ts';
import { badRequest } from '#core/errors.ts';
import type { Policy } from '#core/people/access.ts';

/** What a route has beside its policy and its schema. */
type RouteConfig = Omit<FastifyContextConfig, 'policy'> & Pick<RouteOptions, 'bodyLimit'>;

/**
 * The options of a route: who may call it (a role means keys and people with this role, a scope tokens with it), and its schema.
 * openapi.ts adds everything that follows from both. A handler answers with the lowest status of its schema, unless it sets another.
 */
export function route<S extends FastifySchema & RouteConfig>(
  who: Policy | Role | Scope,
  { bodyLimit, expensive, rateLimit, senderCredential, accountCredential, urlToken, ...schema }: S,
) {
  const role = roles.find((each) => each === who);
  const scope = scopes.find((each) => each === who);
  const policy = role ? { role } : scope ? { scope } : (who as Policy);
  const status = Math.min(...Object.keys(schema.response ?? {}).map(Number));
  const setStatus: preHandlerHookHandler = (_request, reply, done) => {
    reply.code(status);
    done();
  };
  return {
    config: { policy, expensive, rateLimit, senderCredential, accountCredential, urlToken },
    schema,
    ...(bodyLimit !== undefined && { bodyLimit }),
    ...(status > 200 && status < 300 && { preHandler: setStatus }),
  };
}

/** A hook for routes that a plugin adds. */
export const makePublic = (options: RouteOptions): void => {
  options.config = { ...options.config, policy: 'public' };
};

export const IdPath = Type.Object({ id: Type.String() });

/** The query of routes that take the token from the URL. */
export const UrlToken = Type.Object({
  token: Type.Optional(
    Type.String({ description: 'The token, if it has the option `allowInUrl`, and no header has one.' }),
  ),
});

/** The body of a 204. */
export const NoContent = Type.Null({ description: 'Done.' });

/** The answer of a stream of Server-Sent Events. */
export const EventStream = {
  description: 'text/event-stream',
  content: { 'text/event-stream': { schema: Type.String() } },
};

/** The answer of a WebSocket. */
export const WebSocketAnswer = {
  101: { description: 'A WebSocket, for a request with `Upgrade: websocket`.', type: 'null' },
  ...problems(400),
};

/** The error answers of a route that do not follow from its policy, path and method (see openapi.ts). */
export function problems(...statuses: number[]): Record<number, TSchema> {
  return Object.fromEntries(
    statuses.map((status) => {
      const description = Object.values(errors).find((error) => error.status === status)?.meaning ?? '';
      return [
        status,
        Type.Object(ErrorBody.properties, { title: 'Error', additionalProperties: false, description }),
      ];
    }),
  );
}

/**
 * A parameter of the query with the whole numbers from 1 to `most`. It comes as text, which its route reads; /openapi.json describes
 * it as the number that clients have.
 */
export const wholeNumber = (most: number, usual: number, description?: string) =>
  Type.Optional(
    Type.String({
      ...(description && { description }),
      describedAs: { type: 'integer', minimum: 1, maximum: most, default: usual },
    }),
  );

const usualLimit = 50;

/** The parameter that {@link readLimit} reads. */
export const limitUpTo = (most: number) =>
  wholeNumber(most, usualLimit, `1 to ${most}; ${usualLimit} when not given.`);

/** The size of a page; 50 when none is given. @throws AppError `bad-request` beyond `most`. */
export function readLimit(text: string | undefined, most: number): number {
  if (text === undefined) return usualLimit;
  const limit = /^[0-9]{1,4}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > most) throw badRequest(`limit must be a whole number from 1 to ${most}`);
  return limit;
}
