import type { Directory, Screen } from './directory.ts';
import type { TenantId } from './ports.ts';

interface Use {
  readonly tenant: TenantId;
  readonly id: string;
  readonly at: number;
  readonly from: string;
}

interface Seen extends Screen {
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
 * What is noted of each request and stream, but not worth a write of its own: a token's last use, a panel's last sign,
 * a member's last visit, a rule's hits. Kept in memory and written in bulk by `flush`; what a crash loses of it is a few seconds.
 */
export class UsageRecorder {
  readonly #directory: Pick<Directory, 'credentials' | 'panels' | 'rules' | 'members'>;
  #uses = new Map<string, Use>();
  #seen = new Map<string, Seen>();
  /** What the last flush wrote, or is writing: a reader may have looked into the directory before it got there. */
  #seenBefore: ReadonlyMap<string, Seen> = new Map();
  #visits = new Map<TenantId, Map<string, Visit>>();
  #hits = new Map<TenantId, Map<string, Hit>>();

  constructor(directory: Pick<Directory, 'credentials' | 'panels' | 'rules' | 'members'>) {
    this.#directory = directory;
  }

  used(use: Use): void {
    this.#uses.set(use.id, use);
  }

  /** Somebody was here. */
  visited(visit: Visit): void {
    const ofTenant = this.#visits.get(visit.tenant) ?? new Map<string, Visit>();
    ofTenant.set(visit.person, visit);
    this.#visits.set(visit.tenant, ofTenant);
  }

  seen(seen: Seen): void {
    this.#seen.set(seen.id, seen);
  }

  /** The last sign of a panel, if that may not have been written yet. */
  lastSeen(panelId: string): Seen | undefined {
    return this.#seen.get(panelId) ?? this.#seenBefore.get(panelId);
  }

  hit(tenant: TenantId, ruleIds: readonly string[], at: number, times = 1): void {
    if (ruleIds.length === 0) return;
    let ofTenant = this.#hits.get(tenant);
    if (!ofTenant) {
      ofTenant = new Map();
      this.#hits.set(tenant, ofTenant);
    }
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
   * Writes what was noted, a few hundred at a time: neither requests nor the disk wait long for it. One write that fails
   * stops no other. Hits that cannot be written are kept for the next flush; uses, signs and visits come again by themselves.
   *
   * @throws the first error, after everything else was written.
   */
  async flush(): Promise<void> {
    const uses = [...this.#uses.values()];
    const seen = [...this.#seen.values()];
    const visits = [...this.#visits.values()].flatMap((each) => [...each.values()]);
    const hits = [...this.#hits];
    this.#uses = new Map();
    this.#seenBefore = this.#seen;
    this.#seen = new Map();
    this.#visits = new Map();
    this.#hits = new Map();
    const { credentials, panels, rules, members } = this.#directory;
    const errors: unknown[] = [];
    const note = (error: unknown) => void errors.push(error);
    for (const [tenant, byRule] of hits) {
      await rules.hit(tenant, [...byRule.values()]).catch((error: unknown) => {
        for (const { id, count, at } of byRule.values()) this.hit(tenant, [id], at, count);
        note(error);
      });
    }
    for (const some of chunks(uses)) await credentials.touch(some).catch(note);
    for (const some of chunks(seen)) await panels.touch(some).catch(note);
    for (const some of chunks(visits)) await members.touch(some).catch(note);
    if (errors.length > 0) throw errors[0];
  }
}

const chunkSize = 250;

function* chunks<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += chunkSize) yield all.slice(from, from + chunkSize);
}
