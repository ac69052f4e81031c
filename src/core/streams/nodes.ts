/** How the nodes of one database learn of each other. */
import type { TenantId } from '../log/route.ts';
import type { Screen } from '../tenants/directory.ts';
import type { ConnectedPanel } from './hub.ts';

/** A node's view of a tenant: the head of its log as far as this node has read it, and the connected panels. */
export interface NodePanels {
  readonly tenant: TenantId;
  readonly head: number;
  readonly panels: ReadonlyMap<string, ConnectedPanel>;
}

/** An event for the screens of a panel, wherever they are connected. */
export interface PanelCommandEvent {
  readonly tenant: TenantId;
  readonly panelId: string;
  readonly event: string;
  readonly data: unknown;
}

export interface RemotePanel extends Screen {
  readonly id: string;
  readonly cursor: number;
  readonly lag: number;
}

export interface SharedLease {
  /** Takes the lease if it is free, or renews it. Returns whether this node has it for the next 15 seconds. */
  hold(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * Each node has a lease, which it renews together with its report of connected panels. When a node dies, its lease expires, and
 * its report no longer counts.
 */
export interface Nodes {
  /** Renews the lease of this node, and replaces what it reported before. */
  report(connected: Iterable<NodePanels>): Promise<void>;
  /** The panels of a tenant (or only `panelId`) that are connected to other nodes, by their last reports. */
  elsewhere(tenant: TenantId, panelId?: string): Promise<readonly RemotePanel[]>;
  /** Leaves a command for each other node to which the panel is connected; false when there is none. */
  leaveCommand(command: PanelCommandEvent): Promise<boolean>;
  /** Returns the commands that other nodes left for this node, each once. Commands older than a few seconds are dropped. */
  takeCommands(): Promise<readonly PanelCommandEvent[]>;
  /** A lease that only one node has at a time, by name. */
  lease(name: string): SharedLease;
  /** Gives up the lease. */
  leave(): Promise<void>;
}
