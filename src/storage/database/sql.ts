import { type Compilable, type CompiledQuery, type Dialect, Kysely, type RawBuilder } from 'kysely';
import type { AlarmEvent } from '#contract/channels/channel-fields.ts';
import type { TenantId } from '#core/log/route.ts';

/** A statement: built from a {@link Database}, or written with `sql`. */
export type Statement<Row = unknown> = Compilable<Row> | RawBuilder<Row>;

export interface SqlResult {
  readonly rows: readonly Record<string, unknown>[];
  /** Rows inserted, updated or deleted. */
  readonly changes: number;
}

/** How statements reach the database: over SQLite's threads, or a pool of PostgreSQL connections. */
export interface SqlExecutor {
  read<Row>(query: CompiledQuery<Row>, tenant?: TenantId): Promise<Row[]>;
  write(queries: readonly CompiledQuery[], tenant?: TenantId): Promise<readonly SqlResult[]>;
}

/** The tables of the directory: builds statements in the database's dialect, and runs them. */
export class Database extends Kysely<Schema> {
  readonly #executor: SqlExecutor;

  constructor(dialect: Dialect, executor: SqlExecutor) {
    super({ dialect });
    this.#executor = executor;
  }

  /** `tenant`: on PostgreSQL, row-level security restricts the statement to rows of this tenant. Without it, the statement sees rows of all tenants. */
  read<Row>(statement: Statement<Row>, tenant?: TenantId): Promise<Row[]> {
    return this.#executor.read(statement.compile(this), tenant);
  }

  /** Runs all statements in one durable transaction, or none; returns the result of each. `tenant`: as for `read`. */
  write(statements: readonly Statement[], tenant?: TenantId): Promise<readonly SqlResult[]> {
    return this.#executor.write(
      statements.map((statement) => statement.compile(this)),
      tenant,
    );
  }
}

/**
 * The directory's tables. Times are Unix milliseconds, JSON is stored as text. A backend must return integers as numbers,
 * and compare names by code point (SQLite's BINARY, PostgreSQL's collation "C").
 */
export interface Schema {
  meta: { name: string; value: string };
  tenants: TenantRow;
  credentials: CredentialRow;
  levels: LevelRow;
  rules: RuleRow;
  rule_hits: { tenant: number; id: string; hits: number; last_hit_at: number };
  panels: PanelRow;
  pairings: PairingRow;
  saved_searches: SavedSearchRow;
  mappings: MappingRow;
  on_call: OnCallRow;
  channels: ChannelRow;
  deliveries: DeliveryRow;
  push_devices: PushDeviceRow;
  audit: AuditRow;
  due_times: DueTimeRow;
  people: PersonRow;
  members: MemberRow;
  invitations: InvitationRow;
  sessions: SessionRow;
  sign_in_methods: SignInMethodRow;
  verifications: VerificationRow;
  two_factors: { id: string; person: string; secret: string; verified: number };
}

export interface TenantRow {
  id: number;
  name: string;
  title: string;
  time_zone: string;
  state: 'active' | 'suspended' | 'deleting' | 'deleted';
  /** JSON, like the next two columns; null: the server's default. */
  rate: string | null;
  retention_days: string | null;
  retention_count: string | null;
  rules_revision: number;
  /** Rules can be read as they were at this revision, and at later ones. */
  rules_from: number;
  changed: number;
  created_at: number;
}

export interface CredentialRow {
  tenant: number;
  id: string;
  kind: 'token' | 'key';
  name: string;
  hash: string;
  scopes: string;
  role: string | null;
  rate: string | null;
  panel_id: string | null;
  allow_from: string;
  /** 0 or 1. */
  allow_in_url: number;
  created_at: number;
  created_by: string;
  /** The id of the person or key that created it. */
  maker: string | null;
  last_used_at: number | null;
  last_used_from: string | null;
  expires_at: number | null;
  revoked_at: number | null;
}

export interface LevelRow {
  tenant: number;
  name: string;
  rank: number;
  color: string;
  icon: string;
  sound: string;
  duration_ms: number;
  repeat_ms: number | null;
  acknowledge_for_ms: number | null;
}

/** One version of a rule: in force from revision `since` on, before revision `until`. */
export interface RuleRow {
  tenant: number;
  id: string;
  since: number;
  until: number | null;
  ordinal: number;
  spec: string;
  created_at: number;
  updated_at: number;
}

export interface PanelRow {
  tenant: number;
  id: string;
  name: string;
  tags: string;
  location: string | null;
  display: string;
  created_at: number;
  last_seen_at: number | null;
  cursor: number | null;
  client: string | null;
  address: string | null;
  kind: string;
  topic: string | null;
}

export interface PairingRow {
  secret_hash: string;
  code: string;
  created_at: number;
  expires_at: number;
  tenant: number | null;
  panel_id: string | null;
  approved_by: string | null;
  collected_at: number | null;
}

export interface SavedSearchRow {
  tenant: number;
  id: string;
  name: string;
  q: string;
  /** JSON: tab and group of the page Alarms. */
  alarms: string | null;
  created_at: number;
  created_by: string;
}

export interface OnCallRow {
  tenant: number;
  id: string;
  name: string;
  /** JSON. */
  spec: string;
  created_at: number;
  updated_at: number;
  /** JSON: the last good copy of the calendar. */
  copy: string | null;
  etag: string | null;
  read_at: number | null;
  failing_since: number | null;
  error: string | null;
  /** null: there is no calendar. */
  read_due_at: number | null;
}

export interface MappingRow {
  tenant: number;
  name: string;
  /** JSON. */
  spec: string;
  updated_at: number;
  updated_by: string;
}

export interface ChannelRow {
  tenant: number;
  id: string;
  name: string;
  kind: string;
  /** 0 or 1. */
  enabled: number;
  settings: string;
  secrets: string;
  sealed: string | null;
  created_at: number;
  updated_at: number;
  failures: number;
  failing_since: number | null;
  retry_at: number;
  last_delivered_at: number | null;
  last_error: string | null;
  lease_holder: string | null;
  lease_until: number;
}

export interface DeliveryRow {
  tenant: number;
  channel: string;
  position: number;
  notification: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: number;
  queued_at: number;
  finished_at: number | null;
  answer: string | null;
  /** The key of an alert whose resolve the channel has not had. */
  open_key: string | null;
  /** What happened to the alarm; null: it is of the notification itself. */
  event: AlarmEvent | null;
  /** What the receiver calls the message. */
  reference: string | null;
}

export interface PushDeviceRow {
  tenant: number;
  channel: string;
  id: string;
  name: string;
  /** null: a link that no device has used yet. */
  sealed: string | null;
  created_at: number;
  created_by: string;
  link_expires_at: number;
  added_at: number | null;
  last_delivered_at: number | null;
  last_notification: string | null;
  last_error: string | null;
  /** null: it belongs to no account. */
  person: string | null;
}

export interface AuditRow {
  tenant: number;
  id: string;
  at: number;
  by: string;
  action: string;
  subject: string;
  detail: string;
}

export interface PersonRow {
  id: string;
  /** Compared without regard to case, like the next column `email`. */
  email: string;
  name: string;
  /** 0 or 1, like the next but one column. */
  email_verified: number;
  image: string | null;
  two_factor_enabled: number;
  created_at: number;
  updated_at: number;
}

export interface MemberRow {
  tenant: number;
  person: string;
  role: string;
  joined_at: number;
  last_seen_at: number | null;
}

export interface InvitationRow {
  tenant: number;
  id: string;
  secret_hash: string;
  role: string;
  email: string | null;
  created_at: number;
  created_by: string;
  expires_at: number;
  accepted_at: number | null;
  withdrawn_at: number | null;
}

export interface SessionRow {
  id: string;
  token_hash: string;
  person: string;
  remembered: number;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  address: string | null;
  user_agent: string | null;
  /** When the person last confirmed their identity in it, after the sign-in. */
  reauthenticated_at: number | null;
}

export interface SignInMethodRow {
  id: string;
  person: string;
  provider: string;
  subject: string;
  password_hash: string | null;
  scope: string | null;
  created_at: number;
  updated_at: number;
}

export interface VerificationRow {
  id: string;
  identifier: string;
  value: string;
  expires_at: number;
}

export interface DueTimeRow {
  tenant: number;
  kind: string;
  subject: string;
  due_at: number | null;
  version: string;
  /** JSON. */
  data: string;
}
