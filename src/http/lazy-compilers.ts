/** Validators and serializers of routes, each compiled by its first request. */
import ValidatorSelector from '@fastify/ajv-compiler';
import SerializerSelector from '@fastify/fast-json-stringify-compiler';

type BuildValidator = ReturnType<typeof ValidatorSelector>;
type BuildSerializer = ReturnType<typeof SerializerSelector>;

const buildValidator: BuildValidator = ValidatorSelector();
const buildSerializer: BuildSerializer = SerializerSelector();

/**
 * Fastify's own compilers, with the work put off: to compile all routes takes a third of a start, and 7 MiB for routes of which
 * most are never used.
 */
export const lazyCompilers = {
  buildValidator: ((...given: Parameters<BuildValidator>) => {
    const compile = buildValidator(...given);
    return (...route: Parameters<typeof compile>) => {
      let validate: ReturnType<typeof compile> | undefined;
      return (data: unknown) => {
        validate ??= compile(...route);
        return validate(data) ? true : { error: validate.errors };
      };
    };
    // Ajv's functions have properties, which Fastify does not need where the errors are returned.
  }) as unknown as BuildValidator,
  buildSerializer: ((...given) => {
    const compile = buildSerializer(...given);
    return (...route) => {
      let serialize: ReturnType<typeof compile> | undefined;
      return (data) => {
        serialize ??= compile(...route);
        return serialize(data);
      };
    };
  }) satisfies BuildSerializer,
};
