/** The error for a request that does not match the schema of its route. */
import type { FastifyError } from 'fastify';
import type { ErrorPlace } from '#contract/error-header.ts';
import { AppError, pathOf } from '#core/errors.ts';
import { offerNearest } from '#core/search/search-nearest.ts';

/** Ajv gives the schema of the keyword too (`verbose`), which may state what would be right. */
type Problem = NonNullable<FastifyError['validation']>[number] & {
  readonly parentSchema?: { readonly errorMessage?: string; readonly properties?: object };
};

/** "when.host must have at least 1 item", with the allowed values where there is a choice. */
export function invalidRequest(context: string | undefined, problems: readonly Problem[]): AppError {
  // Each branch of a union has its problem. The deepest is of the branch that the value was meant for.
  const deepest = problems.toSorted((a, b) => depthOf(b) - depthOf(a))[0];
  if (!deepest) return new AppError('bad-request', 'the request is not valid');
  const { instancePath } = deepest;
  const there = problems.filter((problem) => problem.instancePath === instancePath);
  const name = pathOf(instancePath) || (context === 'querystring' ? 'the query' : 'the body');
  return new AppError('bad-request', sentenceOf(name, instancePath, there), {
    place: placeOf(context, instancePath),
  });
}

const depthOf = ({ instancePath }: Problem) => instancePath.split('/').length;

/** The schema's own words if it has any; of a union, those of the union itself come last. */
function sentenceOf(name: string, pointer: string, problems: readonly Problem[]): string {
  const stated = problems.findLast(
    ({ keyword, parentSchema }) => keyword !== 'type' && parentSchema?.errorMessage,
  );
  if (stated?.parentSchema?.errorMessage) return `${name} ${stated.parentSchema.errorMessage}`;
  const [first, ...others] = problems.filter(({ keyword }) => keyword !== 'anyOf');
  if (first?.keyword === 'required')
    return `${pathOf(`${pointer}/${String(first.params.missingProperty)}`)} is required`;
  if (first?.keyword !== 'type' || others.some(({ keyword }) => keyword !== 'type'))
    return `${name} ${plain(first)}`;
  return `${name} must be ${[first, ...others].map(({ params }) => typesOf(params.type)).join(' or ')}`;
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const typesOf = (types: unknown) =>
  [types]
    .flat()
    .map((type) => typeNames[String(type)] ?? String(type))
    .join(' or ');

function plain({ message = 'is not valid', params = {}, parentSchema }: Partial<Problem> = {}): string {
  const { allowedValues, additionalProperty, format } = params as {
    allowedValues?: unknown[];
    additionalProperty?: string;
    format?: string;
  };
  if (allowedValues) return `must be one of ${allowedValues.join(', ')}`;
  if (additionalProperty !== undefined) {
    const { clause } = offerNearest(additionalProperty, Object.keys(parentSchema?.properties ?? {}));
    return `has no field "${additionalProperty}"${clause}`;
  }
  if (format === 'date-time') return 'must be a time, as in 2026-11-01T10:00:00Z';
  return message
    .replace('must NOT have more than', 'must have at most')
    .replace('must NOT have fewer than', 'must have at least')
    .replace(/ 1 (character|item|propertie)s$/, (_, one: string) => ` 1 ${one.replace('tie', 'ty')}`);
}

function placeOf(context: string | undefined, pointer: string): ErrorPlace {
  return context === 'body' || context === undefined ? { pointer } : { parameter: pointer.slice(1) };
}
