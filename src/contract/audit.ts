import { type Static, Type } from 'typebox';

/** One change of configuration. */
export const AuditEntry = Type.Object(
  {
    id: Type.String(),
    at: Type.String({ format: 'date-time' }),
    by: Type.String({ description: 'As in "key deploy", "cli", or a person\'s e-mail address.' }),
    action: Type.String({ description: 'As in "rule.update".' }),
    subject: Type.String({ description: 'Id or name of what was changed.' }),
    detail: Type.Record(Type.String(), Type.Unknown()),
  },
  { title: 'AuditEntry', additionalProperties: false },
);
export type AuditEntry = Static<typeof AuditEntry>;

/** Newest first. */
export const AuditPage = Type.Object(
  { entries: Type.Array(AuditEntry), nextCursor: Type.Union([Type.String(), Type.Null()]) },
  { title: 'AuditPage', additionalProperties: false },
);
export type AuditPage = Static<typeof AuditPage>;
