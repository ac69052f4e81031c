/**
 * Validators and serializers of routes. A schema is compiled when a request first needs it, once in a process: compiling all of
 * them would take half of the start, and most are never used.
 */
import { createRequire } from 'node:module';
import type { FastifyServerOptions } from 'fastify';
import { getOrMake } from '#core/maps.ts';

type Compilers = NonNullable<NonNullable<FastifyServerOptions['schemaController']>['compilersFactory']>;
type Validator = ((data: unknown) => boolean) & { readonly errors?: readonly unknown[] | null };
type Serializer = (data: unknown) => string;

/** No conversion: a value must have the type that the schema names. */
const ajvOptions = {
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  allErrors: false,
  allowUnionTypes: true,
  /** Errors have the schema they come from. */
  verbose: true,
  /** What a value must be, in words (see errors.ts), and how /openapi.json describes it (see openapi.ts). */
  keywords: ['errorMessage', 'describedAs'],
};

const require = createRequire(import.meta.url);

// Loaded by the first schema: a server that only takes and shows notifications needs neither.
export const validatorOf = oncePerSchema<Validator>(() => {
  const ajv = require('@fastify/ajv-compiler') as typeof import('@fastify/ajv-compiler');
  return ajv()({}, { customOptions: ajvOptions }) as unknown as Compile<Validator>;
});
export const serializerOf = oncePerSchema<Serializer>(() => {
  const stringify =
    require('@fastify/fast-json-stringify-compiler') as typeof import('@fastify/fast-json-stringify-compiler');
  return stringify()({}, {}) as unknown as Compile<Serializer>;
});

/** An invalid schema throws at its first use; a test compiles all schemas. */
export const lazyCompilers = {
  buildValidator: () => {
    return ({ schema }: { schema: object }) => {
      let validate: Validator | undefined;
      return (data: unknown) => {
        validate ??= validatorOf(schema);
        return validate(data) || { error: validate.errors };
      };
    };
  },
  buildSerializer: () => {
    return ({ schema }: { schema: object }): Serializer => {
      let serialize: Serializer | undefined;
      return (data) => {
        serialize ??= serializerOf(schema);
        return serialize(data);
      };
    };
  },
} as unknown as Compilers;

type Compile<Compiled> = (route: { schema: object }) => Compiled;

/** Cached by the content of a schema, because each server creates some of its schemas again. */
function oncePerSchema<Compiled extends {}>(load: () => Compile<Compiled>): (schema: object) => Compiled {
  const compiled = new Map<string, Compiled>();
  let compile: Compile<Compiled> | undefined;
  return (schema) =>
    getOrMake(compiled, JSON.stringify(schema), () => {
      compile ??= load();
      return compile({ schema });
    });
}
