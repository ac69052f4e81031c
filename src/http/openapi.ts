import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';

/** What /openapi.json says besides the routes themselves, which bring the schemas that validate them. */
export function openApiDocument(version: string): FastifyDynamicSwaggerOptions {
  return {
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
        },
      },
    },
  };
}
