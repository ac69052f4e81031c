import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parseErrorHeader } from '#contract/error-header.ts';
import { type ErrorCode, errors } from '#contract/errors.ts';

interface Operation {
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: object }> }>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

/** Statuses of the entry `default`: errors of a connection or of a request's head, before routing. */
const beforeRoutes = new Set([408, 417, 431]);

/** The parts of an answer that are checked. */
export interface HeldAnswer {
  readonly status: number;
  readonly type: string;
  /** The header Belfry-Error. */
  readonly error: string | null;
  readonly body: string;
}

const isErrorCode = (code: string | undefined): code is ErrorCode =>
  code !== undefined && Object.hasOwn(errors, code);

const checks = new Map<string, OpenApiCheck>();

/** The check of a document, given as text. Servers with the same document share one, because compiling takes a while. */
export function openApiCheckOf(text: string): OpenApiCheck {
  const check = checks.get(text) ?? new OpenApiCheck(JSON.parse(text) as OpenApi);
  checks.set(text, check);
  return check;
}

/** Checks every answer of the service against its own OpenAPI document. */
export class OpenApiCheck {
  readonly #document: OpenApi;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #validators = new Map<string, ValidateFunction>();
  readonly #errorBody: (body: unknown, path: string, status: number) => boolean;
  readonly #templates: readonly { readonly template: string; readonly pattern: RegExp }[];

  constructor(document: OpenApi) {
    this.#document = document;
    this.#templates = Object.keys(document.paths).map((template) => ({
      template,
      pattern: new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`),
    }));
    (addFormats as unknown as (ajv: Ajv2020) => void)(this.#ajv);
    this.#ajv.addSchema({ ...document, $id: 'openapi' });
    const errorWith = (more: Record<string, object>) =>
      this.#ajv.compile({
        type: 'object',
        properties: { error: { type: 'string', minLength: 3 }, ...more },
        required: ['error', ...Object.keys(more)],
        additionalProperties: false,
      });
    const [integer, text] = [{ type: 'integer' }, { type: 'string' }];
    const usual = errorWith({});
    const ofNtfy = errorWith({ code: integer, http: integer, link: text });
    const ofGotify = errorWith({ errorCode: integer, errorDescription: text });
    this.#errorBody = (body, path, status) => {
      // Such an error may be made before the path is known.
      if (beforeRoutes.has(status) && usual(body)) return true;
      const [, protocol] = /^\/+(ntfy|gotify)(?:[/?#]|$)/.exec(path) ?? [];
      return Boolean((protocol === 'ntfy' ? ofNtfy : protocol === 'gotify' ? ofGotify : usual)(body));
    };
  }

  /** @throws Error when the answer does not match the document. */
  hold(method: string, path: string, { status, type: contentType, error, body }: HeldAnswer): void {
    const at = `${method} ${path} ${status}`;
    if (status >= 400) {
      const code = parseErrorHeader(error)?.code;
      if (!isErrorCode(code) || errors[code].status !== status)
        throw new Error(`${at}: the header Belfry-Error is ${error}`);
      if (!contentType.startsWith('application/json'))
        throw new Error(`${at}: an error of type ${contentType}`);
      if (method === 'HEAD') return;
      if (!this.#errorBody(JSON.parse(body), path, status))
        throw new Error(`${at}: not {"error": …} as at this path: ${body}`);
    }
    const template = this.#template(path);
    const operation = template && this.#document.paths[template]?.[method.toLowerCase()];
    if (!operation) return;
    const response = operation.responses[String(status)];
    if (!response) {
      if (beforeRoutes.has(status)) return;
      throw new Error(`${at}: a status the document does not name for ${template}`);
    }
    const mediaType = contentType.split(';')[0] ?? '';
    if (mediaType !== 'application/json') return;
    const validate = this.#validator(
      template,
      method.toLowerCase(),
      status,
      response.content?.[mediaType]?.schema,
    );
    if (validate && !validate(JSON.parse(body)))
      throw new Error(`${at}: ${this.#ajv.errorsText(validate.errors)} in ${body.slice(0, 600)}`);
  }

  #template(path: string): string | undefined {
    const plain = path.split('?')[0] ?? '';
    if (Object.hasOwn(this.#document.paths, plain)) return plain;
    return this.#templates.find(({ pattern }) => pattern.test(plain))?.template;
  }

  #validator(
    template: string,
    method: string,
    status: number,
    schema: object | undefined,
  ): ValidateFunction | undefined {
    if (!schema) return undefined;
    const key = `${method} ${template} ${status}`;
    let validate = this.#validators.get(key);
    if (!validate) {
      const pointer = [
        'paths',
        template,
        method,
        'responses',
        String(status),
        'content',
        'application/json',
        'schema',
      ]
        .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
        .join('/');
      validate = this.#ajv.compile({ $ref: `openapi#/${pointer}` });
      this.#validators.set(key, validate);
    }
    return validate;
  }
}
