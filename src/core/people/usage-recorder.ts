import type { TenantId } from '../log/route.ts';
import { getOrMake } from '../maps.ts';
import type { Directory, PanelRecord, Screen } from '../tenants/directory.ts';

interface Use {
  readonly tenant: TenantId;
  readonly id: string;
  readonly at: number;
  readonly from: string;
}

interface Contact extends Screen {
  readonly tenant: TenantId;
  readonly id: string;
  readonly at: number;
  readonly cursor: number;
}

interface Visit {
  readonly tenant: TenantId;
  readonly person: string;
  readonly at: number;
}

interface Hit {
  readonly id: string;
  count: number;
  at: number;
}

/**
 * Records what does not justify a write for each request: the last use of a token, the last contact of a panel, the last visit of
 * a member, and rule hits. They stay in memory until `flush` writes them in bulk; a crash loses a few seconds of them.
 */
export class UsageRecorder {
  readonly #directory: Pick<Directory, 'credentials' | 'panels' | 'rules' | 'members'>;
  #uses = new Map<string, Use>();
  #contacts = new Map<string, Contact>();
  /** Contacts that the last flush wrote or is writing: a reader may have read the directory before that. */
  #flushedContacts: ReadonlyMap<string, Contact> = new Map();
  #visits = new Map<TenantId, Map<string, Visit>>();
  #hits = new Map<TenantId, Map<string, Hit>>();

  constructor(directory: Pick<Directory, 'credentials' | 'panels' | 'rules' | 'members'>) {
    this.#directory = directory;
  }

  recordUse(use: Use): void {
    this.#uses.set(use.id, use);
  }

  recordVisit(visit: Visit): void {
    getOrMake(this.#visits, visit.tenant, () => new Map()).set(visit.person, visit);
  }

  recordContact(contact: Contact): void {
    this.#contacts.set(contact.id, contact);
  }

  /** The last contact of a panel, if `panel` does not have it yet; another node may have written a later one. */
  lastContact({ id, lastSeenAt }: Pick<PanelRecord, 'id' | 'lastSeenAt'>): Contact | undefined {
    const contact = this.#contacts.get(id) ?? this.#flushedContacts.get(id);
    return contact && contact.at >= (lastSeenAt ?? 0) ? contact : undefined;
  }

  recordHits(tenant: TenantId, ruleIds: readonly string[], at: number, times = 1): void {
    if (ruleIds.length === 0) return;
    const ofTenant = getOrMake(this.#hits, tenant, () => new Map());
    for (const id of ruleIds) {
      const hit = ofTenant.get(id);
      if (hit) {
        hit.count += times;
        hit.at = Math.max(hit.at, at);
      } else {
        ofTenant.set(id, { id, count: times, at });
      }
    }
  }

  /**
   * Writes everything recorded, in the order of ids, so that nodes that write the same rows at once do not lock each other
   * out; a few hundred rows at a time, so that requests do not wait long. A failed write stops no
   * other. Rule hits that could not be written are kept for the next flush; the rest will be recorded again anyway.
   *
   * @throws the first error, after everything else was written.
   */
  async flush(): Promise<void> {
    const uses = sorted(this.#uses.values(), ({ id }) => id);
    const contacts = sorted(this.#contacts.values(), ({ id }) => id);
    const visits = [...this.#visits]
      .sort(([a], [b]) => a - b)
      .flatMap(([, each]) => sorted(each.values(), ({ person }) => person));
    const hits = [...this.#hits];
    this.#uses = new Map();
    this.#flushedContacts = this.#contacts;
    this.#contacts = new Map();
    this.#visits = new Map();
    this.#hits = new Map();
    const { credentials, panels, rules, members } = this.#directory;
    const errors: unknown[] = [];
    const keep = (error: unknown) => void errors.push(error);
    for (const [tenant, byRule] of hits) {
      await rules
        .hit(
          tenant,
          sorted(byRule.values(), ({ id }) => id),
        )
        .catch((error: unknown) => {
          for (const { id, count, at } of byRule.values()) this.recordHits(tenant, [id], at, count);
          keep(error);
        });
    }
    for (const some of chunks(uses)) await credentials.touch(some).catch(keep);
    for (const some of chunks(contacts)) await panels.touch(some).catch(keep);
    for (const some of chunks(visits)) await members.touch(some).catch(keep);
    if (errors.length > 0) throw errors[0];
  }
}

function sorted<T>(rows: Iterable<T>, keyOf: (row: T) => string): T[] {
  const order = (a: string, b: string) => (a < b ? -1 : Number(a > b));
  return [...rows].sort((a, b) => order(keyOf(a), keyOf(b)));
}

const chunkSize = 250;

function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += chunkSize) yield all.slice(from, from + chunkSize);
}
