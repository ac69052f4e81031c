/** The formats by the name in their path. Each is loaded when a sender first uses it. */
import type { Format } from './format.ts';

export interface FormatEntry {
  readonly name: string;
  readonly load: () => Promise<Format>;
  /** The sender drops a payload after a 429, so the answer is 503 instead. */
  readonly retriesOnly5xx?: true;
}

const webhooks: Readonly<Record<string, Omit<FormatEntry, 'name'>>> = {
  alertmanager: {
    load: async () => (await import('./formats/alertmanager.ts')).alertmanager,
    retriesOnly5xx: true,
  },
  apprise: { load: async () => (await import('./formats/apprise.ts')).apprise },
  cloudevents: { load: async () => (await import('./formats/cloudevents.ts')).cloudevents },
  github: { load: async () => (await import('./formats/github.ts')).github },
  gitlab: { load: async () => (await import('./formats/gitlab.ts')).gitlab },
  grafana: { load: async () => (await import('./formats/grafana.ts')).grafana, retriesOnly5xx: true },
  healthchecks: { load: async () => (await import('./formats/healthchecks.ts')).healthchecks },
  'home-assistant': { load: async () => (await import('./formats/home-assistant.ts')).homeAssistant },
  pagerduty: { load: async () => (await import('./formats/pagerduty.ts')).pagerduty },
  sentry: { load: async () => (await import('./formats/sentry.ts')).sentry },
  slack: { load: async () => (await import('./formats/slack.ts')).slack },
  sns: { load: async () => (await import('./formats/sns.ts')).sns },
  'uptime-kuma': { load: async () => (await import('./formats/uptime-kuma.ts')).uptimeKuma },
  zabbix: { load: async () => (await import('./formats/zabbix.ts')).zabbix },
};

/** Names of the formats at /api/integrations/NAME. */
export const webhookNames: readonly string[] = Object.keys(webhooks);

const entries: ReadonlyMap<string, FormatEntry> = new Map(
  Object.entries(webhooks).map(([name, entry]) => [name, { ...entry, name }]),
);

export const findWebhook = (name: string): FormatEntry | undefined => entries.get(name);

const entry = (name: string, load: FormatEntry['load']): FormatEntry => ({ name, load });

/** Formats at paths of their own. */
export const pagerdutyV1 = entry(
  'pagerduty',
  async () => (await import('./formats/pagerduty.ts')).pagerdutyV1,
);
export const ntfy = entry('ntfy', async () => (await import('./formats/ntfy.ts')).ntfy);
export const ntfyJson = entry('ntfy', async () => (await import('./formats/ntfy.ts')).ntfyJson);
export const opsgenie = entry('opsgenie', async () => (await import('./formats/opsgenie.ts')).opsgenie);
export const opsgenieAcknowledge = entry(
  'opsgenie',
  async () => (await import('./formats/opsgenie.ts')).opsgenieAcknowledge,
);
export const gotify = entry('gotify', async () => (await import('./formats/gotify.ts')).gotify);
