import { Type } from 'typebox';
import { limits } from '#contract/limits.ts';
import { AuditPage } from '#contract/people/audit.ts';
import { AppError } from '#core/errors.ts';
import { limitUpTo, readLimit, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const Filter = (description: string) => Type.Optional(Type.String({ maxLength: 300, description }));

/** The audit log of a tenant. */
export function auditRoutes(app: App, { directory }: Services): void {
  app.get(
    '/api/audit',
    route('admin', {
      summary: 'The audit log, newest first',
      description:
        'Every change of configuration, kept for a year. The detail of an update has the values before and after, without secrets.',
      querystring: Type.Object({
        limit: limitUpTo(limits.auditPage),
        cursor: Type.Optional(Type.String({ description: 'nextCursor of the page before.' })),
        action: Filter('One action, as in rule.update, or all of a kind, as in rule.'),
        by: Filter('Who made the change, as the entries name them.'),
        subject: Filter('Id or name of what was changed.'),
      }),
      response: { 200: AuditPage },
    }),
    async ({ principal, query: { limit, cursor, action, by, subject } }) => {
      const { entries, more } = await directory.auditLog.page({
        tenant: principal.tenant,
        limit: readLimit(limit, limits.auditPage),
        before: readCursor(cursor),
        action: action || undefined,
        by: by || undefined,
        subject: subject || undefined,
      });
      return { entries: [...entries], nextCursor: more ? (entries.at(-1)?.id ?? null) : null };
    },
  );
}

function readCursor(text: string | undefined): string | undefined {
  if (text === undefined || uuid.test(text)) return text;
  throw new AppError(
    'cursor.invalid',
    'cursor is not one of this service: use nextCursor as it was answered',
  );
}
