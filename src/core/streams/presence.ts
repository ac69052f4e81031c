import { coalesced } from '../limits/concurrency.ts';
import type { Bus } from '../log/bus.ts';
import type { TenantId } from '../log/route.ts';
import type { ConnectedPanel } from './hub.ts';
import type { Nodes, PanelCommandEvent } from './nodes.ts';
import type { TenantStreams } from './tenant-streams.ts';

interface PresenceOptions {
  readonly tenantStreams: Pick<TenantStreams, 'online' | 'connected' | 'sendEvent'>;
  readonly bus: Pick<Bus, 'publish' | 'subscribe'>;
  /** undefined: this is the only node. */
  readonly nodes: Nodes | undefined;
  readonly onError: (error: unknown) => void;
}

/** The connected panels of all nodes, and how commands reach them. */
export class Presence {
  readonly #options: PresenceOptions;

  constructor(options: PresenceOptions) {
    this.#options = options;
    const { bus, nodes, onError } = options;
    if (nodes) bus.subscribe('commands', () => void this.deliverCommands().catch(onError));
  }

  /**
   * The connected panels of a tenant, or only `panelId`, and the head of the log. Panels of other nodes are as last reported.
   */
  async online(
    tenant: TenantId,
    panelId?: string,
  ): Promise<{ readonly head: number; readonly panels: ReadonlyMap<string, ConnectedPanel> }> {
    const { tenantStreams, nodes } = this.#options;
    const [{ head, panels: here }, elsewhere = []] = await Promise.all([
      tenantStreams.online(tenant, panelId),
      nodes?.elsewhere(tenant, panelId),
    ]);
    const panels = new Map(here);
    for (const panel of elsewhere) {
      if ((panels.get(panel.id)?.cursor ?? -1) < panel.cursor) panels.set(panel.id, panel);
    }
    return { head, panels };
  }

  /** Sends an event to the connected screens of a panel; screens that connect later never get it. Returns whether there was one. */
  async sendCommand(command: PanelCommandEvent): Promise<boolean> {
    const { tenantStreams, nodes, bus } = this.#options;
    const { tenant, panelId, event, data } = command;
    const isHere = tenantStreams.sendEvent(tenant, panelId, event, data);
    const isElsewhere = (await nodes?.leaveCommand(command)) ?? false;
    if (isElsewhere) bus.publish('commands', []);
    return isHere || isElsewhere;
  }

  /** Call it several times a second, because the bus may lose wake-ups. */
  readonly deliverCommands = coalesced(async () => {
    const { tenantStreams, nodes } = this.#options;
    for (const { tenant, panelId, event, data } of (await nodes?.takeCommands()) ?? [])
      tenantStreams.sendEvent(tenant, panelId, event, data);
  });

  /** Stores which panels are connected to this node, for the other nodes. Must be called twice a second. */
  async report(): Promise<void> {
    const { tenantStreams, nodes } = this.#options;
    await nodes?.report(tenantStreams.connected());
  }

  async leave(): Promise<void> {
    await this.#options.nodes?.leave();
  }
}
