import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

/** What /openapi.json says besides the routes themselves, which bring the schemas that validate them. */
export function openApiDocument(version: string): FastifyDynamicSwaggerOptions {
  return {
    // Whatever a key may call, a person with the role may.
    transform: ({ schema, url }) => {
      const isForKeys = schema.security?.some((each) => 'key' in each);
      const security = isForKeys ? [...(schema.security ?? []), { session: [] }] : schema.security;
      return { schema: { ...schema, ...(security && { security }) }, url };
    },
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Belfry',
        version,
        description:
          'Takes notifications over HTTP, records every one, routes it, and shows it on panels the moment it arrives.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'sending', description: 'For monitoring systems, scripts and applications.' },
        { name: 'panels', description: 'For screens.' },
        { name: 'dashboard', description: 'For people and automation keys: history, rules, levels, tokens.' },
        { name: 'account', description: 'For people: signing in, their own account, invitations.' },
        { name: 'operating', description: 'Metrics and health.' },
      ],
      components: {
        securitySchemes: {
          token: {
            type: 'http',
            scheme: 'bearer',
            description: 'An API token, bfy_…, with the scope the call needs.',
          },
          key: {
            type: 'http',
            scheme: 'bearer',
            description: 'An automation key, bfk_…, with the role the call needs.',
          },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'belfry.session_token',
            description:
              'A person who is signed in; __Host-belfry.session_token over https. Changes need an Origin of this server, and whoever belongs to several tenants names one in the header Belfry-Tenant.',
          },
        },
      },
    },
  };
}
