/** Writes directly to a database what would take long through the API: thousands of rules and tenants, tokens. */
import { closeSync, copyFileSync, fsyncSync, openSync } from 'node:fs';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import type { RuleSpec, RuleWhen } from '#contract/routing/rule.ts';
import { newKey, newToken } from '#core/people/credentials.ts';
import type { CredentialRecord } from '#core/tenants/directory.ts';
import { type Db, openWritable } from '#storage/sqlite/file/database-file.ts';
import { ensurePartition } from '#storage/sqlite/log/partitions.ts';
import { migrate } from '#storage/sqlite/migrate.ts';
import { notification } from './notification-sample.ts';

/** Copies a history and syncs it to disk, so that the next measurement does not wait for that. */
export function copyHistory(file: string, to: string): void {
  copyFileSync(file, to);
  const copy = openSync(to, 'r+');
  fsyncSync(copy);
  closeSync(copy);
}

/** Runs `work` on a database that no server has open; creates it if necessary. */
export function prepare<T>(path: string, work: (db: Db) => T): T {
  const db = openWritable(path);
  try {
    migrate(db);
    ensurePartition(db);
    return db.transaction(() => work(db))();
  } finally {
    db.close();
  }
}

export function addTenants(db: Db, count: number): number[] {
  const add = db.prepare<[string, string], { id: number }>(
    'INSERT INTO tenants (name, title, changed, created_at) VALUES (?, ?, 1, 0) RETURNING id',
  );
  return Array.from({ length: count }, (_, i) => {
    const { id } = add.get(`crowd-${i}`, `crowd ${i}`) as { id: number };
    addLevels(db, id);
    return id;
  });
}

/** Adds what history-data.ts omits, but a server needs. */
export function makeServable(db: Db, tenant: number): void {
  addLevels(db, tenant);
}

function addLevels(db: Db, tenant: number): void {
  const add = db.prepare(
    'INSERT INTO levels (tenant, name, rank, color, icon, sound, duration_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  for (const [name, { rank, color, icon, sound, durationMs }] of Object.entries(builtInStyles))
    add.run(tenant, name, rank, color, icon, sound, durationMs);
}

/** Adds a token with all scopes. */
export function addToken(db: Db, tenant: number): string {
  const { record, text } = newToken(tenant, { name: 'bench token' }, 'bench', Date.now());
  addCredential(db, record);
  return text;
}

export function addKey(db: Db, tenant: number): string {
  const { record, text } = newKey(tenant, { name: 'bench key', role: 'admin' }, 'bench', Date.now());
  addCredential(db, record);
  return text;
}

function addCredential(
  db: Db,
  { tenant, id, kind, name, hash, scopes, role, createdAt }: CredentialRecord,
): void {
  db.prepare(`INSERT INTO credentials (tenant, id, kind, name, hash, scopes, role, allow_from, created_at, created_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, '[]', ?, 'bench')`).run(
    tenant,
    id,
    kind,
    name,
    hash,
    JSON.stringify(scopes),
    role,
    createdAt,
  );
}

/** Adds a rule that shows the benchmark's notifications only on panels with a tag. */
export function addRule(db: Db, tenant: number, tag: string): void {
  const { host } = JSON.parse(notification) as { host: string };
  const rule = ruleOf(0, { host: [host] });
  addRuleSpecs(db, tenant, [{ ...rule, then: { panels: { tags: [tag] } }, continue: false }]);
}

/** Adds a mix of usual rules. Hardly any of them match, so all must be ruled out. */
export function addRules(db: Db, tenant: number, count: number): void {
  addRuleSpecs(
    db,
    tenant,
    Array.from({ length: count }, (_, i) => ruleOf(i, whenOf(i))),
  );
}

function addRuleSpecs(db: Db, tenant: number, specs: readonly RuleSpec[]): void {
  db.prepare('UPDATE tenants SET rules_revision = rules_revision + 1 WHERE id = ?').run(tenant);
  const add = db.prepare(`INSERT INTO rules (tenant, id, since, until, ordinal, spec, created_at, updated_at)
    VALUES (?, ?, (SELECT rules_revision FROM tenants WHERE id = ?), NULL, ?, ?, 0, 0)`);
  for (const [i, spec] of specs.entries()) add.run(tenant, spec.id, tenant, i, JSON.stringify(spec));
}

function whenOf(i: number): RuleWhen {
  const kinds: RuleWhen[] = [
    { host: [`srv-${i}.example.com`] },
    { host: [`web-${i}*`], minLevel: 'warning' },
    { ip: [`10.${100 + (i >> 8)}.${i & 255}.0/24`] },
    { title: { contains: `service ${i}` } },
    { key: [`check/${i}/*`] },
    { message: { glob: `*rack ${i} *` } },
  ];
  return kinds[i % kinds.length] as RuleWhen;
}

function ruleOf(i: number, when: RuleWhen): RuleSpec {
  return {
    id: `r${i}`,
    name: `rule ${i}`,
    enabled: true,
    when,
    then: { panels: { tags: [`team-${i % 20}`] } },
    continue: true,
    activeFrom: null,
    activeUntil: null,
    windows: [],
    timeZone: 'UTC',
    note: '',
  };
}
