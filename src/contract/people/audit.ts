/** What entries of the audit log may say, without schemas: pages have words for each. */
import { type Static, Type } from 'typebox';
import { component, Instant, nullable } from '../schema.ts';

export const auditActions = [
  'account.backup-codes',
  'account.passkey.add',
  'account.passkey.remove',
  'account.password',
  'account.rename',
  'account.two-factor',
  'alarm.acknowledge',
  'alarm.assign',
  'alarm.clear',
  'alarm.shelve',
  'alarm.unacknowledge',
  'alarm.unshelve',
  'channel.create',
  'channel.delete',
  'channel.update',
  'invitation.create',
  'invitation.withdraw',
  'key.create',
  'key.revoke',
  'key.update',
  'level.delete',
  'level.put',
  'level.register',
  'mapping.delete',
  'mapping.put',
  'member.add',
  'member.remove',
  'member.update',
  'on-call.create',
  'on-call.delete',
  'on-call.update',
  'pairing.approve',
  'panel.create',
  'panel.delete',
  'panel.identify',
  'panel.reload',
  'panel.test',
  'panel.update',
  'push-device.add',
  'push-device.link',
  'push-device.remove',
  'rule.create',
  'rule.delete',
  'rule.order',
  'rule.update',
  'search.create',
  'search.delete',
  'search.update',
  'session.begin',
  'session.end',
  'session.refuse',
  'tenant.create',
  'tenant.delete',
  'tenant.resume',
  'tenant.suspend',
  'tenant.update',
  'token.create',
  'token.revoke',
  'token.update',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Fields of details that are not fields of what was changed, as the API has it. */
export const auditFacts = [
  'alarms',
  'device',
  'email',
  'from',
  'invitation',
  'invitedBy',
  'moved',
  'note',
  'on',
  'panel',
  'passkeysRemoved',
  'removed',
  'reset',
  'revokedKeys',
  'revokedTokens',
  'secretsChanged',
  'sessions',
  'to',
  'twoFactor',
  'until',
  'with',
] as const;

/** Fields of what was created, deleted or ended. Of a change, `before` and `after` have the fields that the API takes. */
type Described =
  | 'name'
  | 'title'
  | 'kind'
  | 'enabled'
  | 'settings'
  | 'secrets'
  | 'tags'
  | 'location'
  | 'panelId'
  | 'role'
  | 'expiresAt'
  | 'rank'
  | 'color'
  | 'icon'
  | 'sound'
  | 'durationMs'
  | 'repeatMs'
  | 'acknowledgeForMs'
  | 'q'
  | 'timeZone';

/** What an entry says beside its action. A field that is not known here has no words on the pages. */
export type AuditDetail = {
  readonly [Field in (typeof auditFacts)[number] | Described | 'before' | 'after']?: unknown;
};

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
