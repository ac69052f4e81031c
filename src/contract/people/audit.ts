import { type Static, Type } from 'typebox';
import { component, Instant, nullable } from '../schema.ts';

/** One change of configuration. */
export const AuditEntry = component('AuditEntry', {
  id: Type.String(),
  at: Instant,
  by: Type.String({ description: 'As in "key deploy", "cli", or a person\'s email address.' }),
  action: Type.String({ description: 'As in "rule.update".' }),
  subject: Type.String({ description: 'Id or name of what was changed.' }),
  detail: Type.Record(Type.String(), Type.Unknown()),
});
export type AuditEntry = Static<typeof AuditEntry>;

/** Newest first. */
export const AuditPage = component('AuditPage', {
  entries: Type.Array(AuditEntry),
  nextCursor: nullable(Type.String()),
});
export type AuditPage = Static<typeof AuditPage>;
