/** Parses JSON bodies, for all routes but those of senders, which read their bodies themselves. */
import type { FastifyRequest } from 'fastify';
import { AppError, badRequest, pathOf } from '#core/errors.ts';
import { textProblem } from '#core/intake/notification.ts';
import { findExcess } from '#core/limits/bounded-json.ts';
import { parseJson } from './intake/body.ts';
import { validatorOf } from './openapi/lazy-compilers.ts';
import type { App } from './services.ts';

/** Every text of a body, and every name of a field, can be stored afterwards; otherwise it is a 400 that names the field. */
export function parseJsonBodies(app: App): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (request: FastifyRequest, text, done) => {
      if (text === '' && takesNone(request.routeOptions.schema?.body)) return done(null);
      const excess = findExcess(text as string);
      if (excess !== undefined) return done(badRequest(`the body cannot be read: ${excess}`));
      const check = (error: Error | null, body?: unknown) =>
        done(
          error
            ? jsonError(error, text as string)
            : mayHoldBadText.test(text as string)
              ? findTextError(body)
              : null,
          body,
        );
      void parse(request, text as string, check);
    },
  );
}

/** The error with its place, if it is one of syntax. */
function jsonError(error: Error, text: string): Error {
  if (text === '') return error;
  try {
    parseJson(text);
  } catch (inPlace) {
    return inPlace as Error;
  }
  return error;
}

/** Clients may send a content type without a body. */
const takesNone = (schema: unknown) => schema === undefined || validatorOf(schema as object)(null);

/** An escape is the only way: the bytes were decoded as UTF-8, and JSON takes no control character as it is. */
const mayHoldBadText = /\\u(?:0000|d[89a-f])/i;

/** Without recursion, because a body may be nested deeper than the stack. */
function findTextError(body: unknown): AppError | null {
  const open = [{ pointer: '', fields: fieldsOf(body) }];
  for (let last = open.at(-1); last; last = open.at(-1)) {
    const next = last.fields.next();
    if (next.done) {
      open.pop();
      continue;
    }
    const [name, value] = next.value;
    const inName = textProblem(String(name));
    if (inName) return textError(last.pointer, `${inName}, in the name of a field`);
    const pointer = `${last.pointer}/${name}`;
    const problem = typeof value === 'string' ? textProblem(value) : undefined;
    if (problem) return textError(pointer, problem);
    if (typeof value === 'object' && value !== null) open.push({ pointer, fields: fieldsOf(value) });
  }
  return null;
}

function fieldsOf(value: unknown): Iterator<[string | number, unknown]> {
  return Array.isArray(value) ? value.entries() : Object.entries(value ?? {}).values();
}

/** The caller chooses the names of a path and its depth, and the path goes into a header. */
const maxPathChars = 300;

function textError(path: string, problem: string): AppError {
  const pointer = path.length <= maxPathChars ? path : '';
  return new AppError('bad-request', `${pathOf(pointer) || 'the body'} ${problem}`, { place: { pointer } });
}
