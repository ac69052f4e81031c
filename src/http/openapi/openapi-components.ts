/** Names the parts of an OpenAPI document, so that generated clients have named types. */
import { ErrorBody, errorSchemaAt, errors } from '#contract/errors.ts';

type Json = Record<string, unknown>;

export interface OpenApiDocument {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components?: Json & { readonly schemas?: Json };
}

interface Operation {
  readonly operationId: string;
  readonly requestBody?: { required?: boolean; content: Json };
  responses: Record<string, Json & { content?: Json }>;
}

const codes = Object.entries(errors)
  .map(([code, { status, meaning }]) => `- \`${code}\` (${status}): ${meaning}`)
  .join('\n');

/** What all error answers share. */
const errorHeaderComponent = {
  description: `Which error it is, for programs, and where in the request the problem is: an item with parameters (RFC 9651),
as in \`query.unknown-key; at=12; length=4; nearest="host"\` or \`bad-request; pointer="/when/ip/0"\`. \`pointer\` is a JSON Pointer
into the body, \`parameter\` a name in the query or the path, \`at\` and \`length\` characters of a search from 1 on, \`nearest\` names
that exist. Text is percent-encoded. An answer without this header is not Belfry's: a proxy wrote it. Codes:\n\n${codes}`,
  schema: { type: 'string' },
} as const;

const errorResponse = (description: unknown, schema: unknown) => ({
  description,
  headers: { 'Belfry-Error': { $ref: '#/components/headers/BelfryError' } },
  content: { 'application/json': { schema } },
});

/** The document with each titled schema and each body as a component. */
export function withComponents(document: OpenApiDocument): OpenApiDocument {
  const schemas: Json = { ...document.components?.schemas };
  named(schemas, ErrorBody);
  const operations = Object.entries(document.paths).flatMap(([path, ofPath]) =>
    Object.values(ofPath).map((operation) => ({ path, operation })),
  );
  for (const { path, operation } of operations) {
    const name = operation.operationId.replace(/^./, (first) => first.toUpperCase());
    const { requestBody } = operation;
    if (requestBody) nameBodies(schemas, requestBody.content, `${name}Request`);
    // With plain text the other fields, or all of them, are headers.
    if (requestBody && 'text/plain' in requestBody.content) {
      requestBody.required = false;
      requestBody.content['text/plain'] = { schema: { type: 'string', description: 'The message.' } };
    }
    for (const [status, response] of Object.entries(operation.responses)) {
      if (status === 'default' || Number(status) >= 400)
        operation.responses[status] = errorResponse(
          response.description,
          named(schemas, errorSchemaAt(path)),
        );
      // Generators for Go need the name …Response for themselves.
      else if (response.content) nameBodies(schemas, response.content, `${name}Result`);
    }
  }
  const headers = { BelfryError: errorHeaderComponent };
  return { ...document, components: { ...document.components, schemas, headers } };
}

function nameBodies(schemas: Json, content: Json, name: string): void {
  for (const media of Object.values(content) as { schema?: Json }[]) {
    if (!media.schema) continue;
    const schema = named(schemas, media.schema) as Json;
    const isPlain = '$ref' in schema || schema.type === 'string' || Object.keys(schema).length === 0;
    media.schema = isPlain ? schema : add(schemas, name, schema);
  }
}

/** Keywords whose value is no schema. */
const valueKeys = new Set(['example', 'examples', 'default', 'const', 'enum', 'required']);

/** The schema with all titled schemas in it, including itself, as references. */
function named(schemas: Json, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((each) => named(schemas, each));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, valueKeys.has(key) ? value : named(schemas, value)]),
  );
  if (typeof title !== 'string') return title === undefined ? rest : { title, ...rest };
  return add(schemas, title, rest);
}

/** @throws Error when two schemas that differ have one name. */
function add(schemas: Json, name: string, schema: unknown): Json {
  const before = schemas[name];
  if (before !== undefined && JSON.stringify(before) !== JSON.stringify(schema))
    throw new Error(`two schemas of the HTTP API are named ${name}`);
  schemas[name] = schema;
  return { $ref: `#/components/schemas/${name}` };
}
