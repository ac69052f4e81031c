/** The formats by the name in their path. Each is loaded when a sender first uses it. */
import type { Format } from './format.ts';

export interface FormatEntry {
  readonly name: string;
  readonly load: () => Promise<Format>;
  /** The sender drops a payload after a 429, so the answer is 503 instead. */
  readonly retriesOnly5xx?: true;
}

const webhooks: Readonly<Record<string, Omit<FormatEntry, 'name'>>> = {
  alertmanager: { load: async () => (await import('./alertmanager.ts')).alertmanager, retriesOnly5xx: true },
  apprise: { load: async () => (await import('./apprise.ts')).apprise },
  cloudevents: { load: async () => (await import('./cloudevents.ts')).cloudevents },
  github: { load: async () => (await import('./github.ts')).github },
  gitlab: { load: async () => (await import('./gitlab.ts')).gitlab },
  grafana: { load: async () => (await import('./grafana.ts')).grafana, retriesOnly5xx: true },
  healthchecks: { load: async () => (await import('./healthchecks.ts')).healthchecks },
  'home-assistant': { load: async () => (await import('./home-assistant.ts')).homeAssistant },
  pagerduty: { load: async () => (await import('./pagerduty.ts')).pagerduty },
  sentry: { load: async () => (await import('./sentry.ts')).sentry },
  slack: { load: async () => (await import('./slack.ts')).slack },
  sns: { load: async () => (await import('./sns.ts')).sns },
  'uptime-kuma': { load: async () => (await import('./uptime-kuma.ts')).uptimeKuma },
  zabbix: { load: async () => (await import('./zabbix.ts')).zabbix },
};

/** Names of the formats at /api/integrations/NAME. */
export const webhookNames: readonly string[] = Object.keys(webhooks);

const entries: ReadonlyMap<string, FormatEntry> = new Map(
  Object.entries(webhooks).map(([name, entry]) => [name, { ...entry, name }]),
);

export const findWebhook = (name: string): FormatEntry | undefined => entries.get(name);

/** Formats at paths of their own. */
export const pagerdutyV1: FormatEntry = {
  name: 'pagerduty',
  load: async () => (await import('./pagerduty.ts')).pagerdutyV1,
};
export const ntfy: FormatEntry = {
  name: 'ntfy',
  load: async () => (await import('./ntfy.ts')).ntfy,
};
export const ntfyJson: FormatEntry = {
  name: 'ntfy',
  load: async () => (await import('./ntfy.ts')).ntfyJson,
};
export const opsgenie: FormatEntry = {
  name: 'opsgenie',
  load: async () => (await import('./opsgenie.ts')).opsgenie,
};
export const opsgenieAcknowledge: FormatEntry = {
  name: 'opsgenie',
  load: async () => (await import('./opsgenie.ts')).opsgenieAcknowledge,
};
export const gotify: FormatEntry = {
  name: 'gotify',
  load: async () => (await import('./gotify.ts')).gotify,
};
