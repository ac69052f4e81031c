/** What the nodes of one database know of each other. */
import type { Screen } from './directory.ts';
import type { TenantId } from './ports.ts';
import type { ConnectedPanel } from './stream/connection.ts';

/** What one node has of a tenant: the head of its log as far as this node has read it, and the panels that are connected. */
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
  /** Whether this node has it for the next 15 seconds; it takes it where nobody has it. */
  hold(): Promise<boolean>;
  release(): Promise<void>;
}

/**
 * A node holds a lease that it renews with what is connected to it. When a node ends without a word, its lease runs out, and
 * what it reported counts no more.
 */
export interface Nodes {
  /** Renews the lease of this node, and replaces what it reported before. */
  report(connected: Iterable<NodePanels>): Promise<void>;
  /** The panels of a tenant that are connected to other nodes, or only `panelId`, as those last reported them. */
  elsewhere(tenant: TenantId, panelId?: string): Promise<readonly RemotePanel[]>;
  /** Leaves a command for each other node to which the panel is connected; false when there is none. */
  leaveCommand(command: PanelCommandEvent): Promise<boolean>;
  /** The commands that others left for this node, each once; those nobody took for some seconds are gone. */
  takeCommands(): Promise<readonly PanelCommandEvent[]>;
  /** What one node has at a time, by its name. */
  lease(name: string): SharedLease;
  /** Gives up the lease. */
  leave(): Promise<void>;
}
