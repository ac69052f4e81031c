/**
 * A tenant's configuration in memory. `directory.ts` is the interface to what is stored: tokens, keys, rules, levels, panels,
 * mappings, searches, members. A snapshot holds what intake and streams need of it, at one moment: levels, panels, channels,
 * roles and the compiled rules. It is replaced as a whole after a change; only newly registered panels are added to one. A
 * tenant is active, suspended or being deleted; a suspended one may do nothing until it is resumed, and one that is being
 * deleted exists for nobody (`tenants.ts`). Each change of configuration writes its audit entry in the same transaction
 * (`audit.ts`). The operator's upper bounds hold for new and for stored settings.
 */
import type { Role } from '#contract/people/token.ts';
import type { Level } from '#contract/routing/level.ts';
import type { ChannelRecord } from '../channels/channels.ts';
import { coalesced, createYieldToEventLoop } from '../limits/concurrency.ts';
import { createLruMap } from '../limits/lru-map.ts';
import type { TenantId } from '../log/route.ts';
import { getOrMake } from '../maps.ts';
import { type OnCallPlan, plansOf } from '../on-call/on-call.ts';
import type { Router } from '../routing/router.ts';
import { compileRulesInSlices } from '../routing/rules.ts';
import type { Directory, FoundCredential, PanelRecord } from './directory.ts';
import { isGone, type TenantRecord } from './tenants.ts';

/** A tenant's configuration at one moment; replaced as a whole. Only newly registered panels are added to it. */
export interface TenantSnapshot {
  readonly record: TenantRecord;
  readonly levels: ReadonlyMap<string, Level>;
  readonly panels: ReadonlyMap<string, PanelRecord>;
  readonly channels: ReadonlyMap<string, ChannelRecord>;
  /** The on-call schedules by id; the router uses the same. */
  readonly onCall: ReadonlyMap<string, OnCallPlan>;
  /** The role of each member, by the person's id; it authorizes requests of people. */
  readonly members: ReadonlyMap<string, Role>;
  readonly router: Router;
}

interface Kept extends TenantSnapshot {
  readonly panels: Map<string, PanelRecord>;
}

/** A read of a tenant in progress, and the panels that registered since its start. */
interface Read {
  readonly tenant: TenantId;
  readonly registered: PanelRecord[];
}

export interface TenancyOptions {
  readonly directory: Directory;
  /** Called with an error of a rule, which then does not match, and with the names of its tenant and of itself. */
  readonly onRuleError: (error: unknown, of: { readonly tenant: string; readonly rule: string }) => void;
  /** Called after each change that this process made. */
  readonly onOwnChange?: () => void;
}

const maxCredentials = 50_000;

/**
 * The part of the directory that every request needs, in memory. Changes by this process are visible at once (call
 * `refresh` after them), changes by other processes after the next `poll`.
 */
export class Tenancy {
  readonly #directory: Directory;
  readonly #onRuleError: TenancyOptions['onRuleError'];
  readonly #onOwnChange: () => void;
  readonly #snapshots = new Map<TenantId, Kept>();
  readonly #reads = new Set<Read>();
  readonly #loading = new Map<TenantId, Promise<TenantSnapshot>>();
  readonly #reloads = new Map<TenantId, () => Promise<TenantSnapshot>>();
  readonly #credentials = createLruMap<string, FoundCredential>(maxCredentials);
  readonly #finding = new Map<
    string,
    { readonly generation: number; readonly found: Promise<FoundCredential | undefined> }
  >();
  readonly #listeners = new Set<(tenant: TenantId) => void>();
  /** Grows with every known change; a credential whose read began before is not kept. */
  #generation = 0;
  #revision = 0;
  #epoch = '';

  constructor({ directory, onRuleError, onOwnChange = () => undefined }: TenancyOptions) {
    this.#directory = directory;
    this.#onRuleError = onRuleError;
    this.#onOwnChange = onOwnChange;
  }

  /** The installation's epoch, as of the last poll. */
  get epoch(): string {
    return this.#epoch;
  }

  /** The snapshot if it is in memory, as for nearly every request. */
  peek(tenant: TenantId): TenantSnapshot | undefined {
    return this.#snapshots.get(tenant);
  }

  get(tenant: TenantId): Promise<TenantSnapshot> {
    const known = this.#snapshots.get(tenant);
    if (known) return Promise.resolve(known);
    let loading = this.#loading.get(tenant);
    if (!loading) {
      loading = this.#load(tenant).finally(() => {
        if (this.#loading.get(tenant) === loading) this.#loading.delete(tenant);
      });
      this.#loading.set(tenant, loading);
    }
    return loading;
  }

  /** As {@link get}, with what other processes have changed until now: a person's last request may have gone to another node. */
  async current(tenant: TenantId): Promise<TenantSnapshot> {
    await this.poll();
    return this.get(tenant);
  }

  /** Polls for changes if the panel is unknown, because it may have just registered on another node. */
  async findPanel(tenant: TenantId, id: string): Promise<PanelRecord | undefined> {
    const known = (await this.get(tenant)).panels.get(id);
    if (known) return known;
    await this.poll();
    return (await this.get(tenant)).panels.get(id);
  }

  /** A credential by its public id, when it is in memory. */
  peekCredential(id: string): FoundCredential | undefined {
    return this.#credentials.get(id);
  }

  /** Missing ids are not cached, so that a new token works at once. */
  async findCredential(id: string): Promise<FoundCredential | undefined> {
    const generation = this.#generation;
    const under = this.#finding.get(id);
    // Thousands of streams may read the same one at once and share the result, but not one from before a change.
    if (under?.generation === generation) return under.found;
    const found = this.#directory.credentials.find(id);
    this.#finding.set(id, { generation, found });
    try {
      const record = await found;
      if (record && generation === this.#generation) this.#credentials.set(id, record);
      return record;
    } finally {
      if (this.#finding.get(id)?.found === found) this.#finding.delete(id);
    }
  }

  /** Reads a tenant's configuration again. Call it after each change by this process. */
  refresh(tenant: TenantId): Promise<TenantSnapshot> {
    this.#onOwnChange();
    return this.#reload(tenant);
  }

  /** Many changes at once share a read, because reading and compiling thousands of rules takes time and memory. */
  #reload(tenant: TenantId): Promise<TenantSnapshot> {
    this.#forgetCredentials(tenant);
    this.#loading.delete(tenant);
    return getOrMake(this.#reloads, tenant, () => coalesced(() => this.#readAgain(tenant)))();
  }

  async #readAgain(tenant: TenantId): Promise<TenantSnapshot> {
    const snapshot = await this.#load(tenant);
    for (const listener of this.#listeners) listener(tenant);
    return snapshot;
  }

  /** Adds a panel that has just registered, without reading all others again. */
  addPanel(tenant: TenantId, panel: PanelRecord): void {
    this.#onOwnChange();
    this.#snapshots.get(tenant)?.panels.set(panel.id, panel);
    for (const read of this.#reads) if (read.tenant === tenant) read.registered.push(panel);
  }

  /**
   * Looks for changes by other processes. Call it several times a second, and when a wake-up arrives. A call during a poll starts
   * another one after it.
   */
  readonly poll = coalesced(() => this.#poll());

  async #poll(): Promise<void> {
    const { epoch, revision, tenants } = await this.#directory.changedSince(this.#revision);
    if (epoch !== this.#epoch) {
      this.#forgetAll();
      this.#epoch = epoch;
      return this.#poll();
    }
    for (const tenant of tenants) {
      // Always: a credential may have been read between another process's change and this snapshot.
      this.#forgetCredentials(tenant);
      if (await this.#isOutdated(tenant)) await this.#reload(tenant);
    }
    this.#revision = revision;
  }

  /** A change made through this process has been read already; a first read in progress may have begun before a change. */
  async #isOutdated(tenant: TenantId): Promise<boolean> {
    const known = this.#snapshots.get(tenant);
    if (!known) return [...this.#reads].some((read) => read.tenant === tenant);
    return known.record.changed < (await this.#directory.tenants.get(tenant)).changed;
  }

  /** Calls `listener` on every change, until the returned function is called. */
  onChange(listener: (tenant: TenantId) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The database went back: revisions start again, and ids may mean other tenants. */
  #forgetAll(): void {
    this.#generation += 1;
    this.#revision = 0;
    this.#snapshots.clear();
    this.#loading.clear();
    this.#credentials.clear();
  }

  #forgetCredentials(tenant: TenantId): void {
    this.#generation += 1;
    for (const [id, record] of this.#credentials) if (record.tenant === tenant) this.#credentials.delete(id);
  }

  async #load(tenant: TenantId): Promise<TenantSnapshot> {
    const epoch = this.#epoch;
    const read: Read = { tenant, registered: [] };
    this.#reads.add(read);
    try {
      const snapshot = await this.#readAll(tenant);
      for (const panel of read.registered)
        if (!snapshot.panels.has(panel.id)) snapshot.panels.set(panel.id, panel);
      // Kept before the read counts as over, so that a poll finds one of the two.
      if (epoch === this.#epoch) return this.#keep(snapshot);
    } finally {
      this.#reads.delete(read);
    }
    return this.#load(tenant);
  }

  /** Of two reads that overtook each other, the newer stays. */
  #keep(snapshot: Kept): TenantSnapshot {
    const known = this.#snapshots.get(snapshot.record.id);
    if (known && known.record.changed > snapshot.record.changed) return known;
    this.#snapshots.set(snapshot.record.id, snapshot);
    return snapshot;
  }

  async #readAll(tenant: TenantId): Promise<Kept> {
    const { tenants, levels, panels, channels, members, onCall } = this.#directory;
    // First, because of its number of changes: everything read after it contains at least these changes, on any connection.
    const record = await tenants.get(tenant);
    // While its data is removed, and afterwards, it has nothing.
    if (isGone(record)) return emptySnapshot(record);
    const [levelList, panelList, channelList, schedules, roles] = await Promise.all([
      levels.list(tenant),
      panels.list(tenant),
      channels.list(tenant),
      onCall.list(tenant),
      members.roles(tenant),
    ]);
    const levelMap = new Map(levelList.map((level) => [level.name, level]));
    const plans = plansOf(schedules);
    const router = await this.#router(record, levelMap);
    return {
      record,
      levels: levelMap,
      panels: new Map(panelList.map((panel) => [panel.id, panel])),
      channels: new Map(channelList.map((channel) => [channel.id, channel])),
      onCall: plans,
      members: roles,
      router: plans.size === 0 && router.onCall.size === 0 ? router : router.withOnCall(plans),
    };
  }

  /** Reading and compiling thousands of rules takes a while, so the router is kept until rules or levels change. */
  async #router(record: TenantRecord, levels: ReadonlyMap<string, Level>): Promise<Router> {
    const known = this.#snapshots.get(record.id);
    const previous = known && rankAlike(known.levels, levels) ? known.router : undefined;
    if (previous?.revision === record.rulesRevision) return previous;
    const set = await this.#directory.rules.set(record.id);
    const onError = (error: unknown, { name }: { readonly name: string }) =>
      this.#onRuleError(error, { tenant: record.name, rule: name });
    return compileRulesInSlices(
      set,
      { levels, onError },
      { yieldToEventLoop: createYieldToEventLoop(), previous },
    );
  }
}

async function emptySnapshot(record: TenantRecord): Promise<Kept> {
  const levels = new Map<string, Level>();
  const set = { revision: record.rulesRevision, rules: [] };
  const options = { yieldToEventLoop: createYieldToEventLoop(), previous: undefined };
  const router = await compileRulesInSlices(set, { levels }, options);
  const none = { panels: new Map(), channels: new Map(), onCall: new Map(), members: new Map() };
  return { record, levels, ...none, router };
}

/**
 * Whether rules compiled for `before` decide the same with `after`. They use only rank and duration, and treat an unknown level
 * as info, so a new level name of a sender needs no compilation.
 */
function rankAlike(before: ReadonlyMap<string, Level>, after: ReadonlyMap<string, Level>): boolean {
  const info = after.get('info');
  const same = (a: Level | undefined, b: Level | undefined) =>
    a !== undefined && b !== undefined && a.rank === b.rank && a.durationMs === b.durationMs;
  return (
    [...before.keys()].every((name) => same(before.get(name), after.get(name))) &&
    [...after.values()].every((level) => before.has(level.name) || same(level, info))
  );
}
