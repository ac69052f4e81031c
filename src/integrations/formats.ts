/** The formats by the name in their path. Each is loaded when a sender first uses it. */
import type { Format } from './incoming.ts';

export interface FormatEntry {
  readonly load: () => Promise<Format>;
  /** The sender drops what is answered with 429, so that it is told 503 instead. */
  readonly retriesOnly5xx?: true;
}

const webhooks: Readonly<Record<string, FormatEntry>> = {
  alertmanager: { load: async () => (await import('./alertmanager.ts')).alertmanager, retriesOnly5xx: true },
  grafana: { load: async () => (await import('./grafana.ts')).grafana, retriesOnly5xx: true },
  'uptime-kuma': { load: async () => (await import('./uptime-kuma.ts')).uptimeKuma },
};

/** Names of the formats at /api/integrations/NAME. */
export const webhookNames: readonly string[] = Object.keys(webhooks);

export function findWebhook(name: string): FormatEntry | undefined {
  return Object.hasOwn(webhooks, name) ? webhooks[name] : undefined;
}

/** Formats at paths of their own. */
export const ntfy: FormatEntry = { load: async () => (await import('./ntfy.ts')).ntfy };
export const ntfyJson: FormatEntry = { load: async () => (await import('./ntfy.ts')).ntfyJson };
export const gotify: FormatEntry = { load: async () => (await import('./gotify.ts')).gotify };
