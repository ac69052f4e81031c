/** The types of `belfry/client` for the package: the contract's schemas, written out so that they need no library. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PanelEvent } from '#client/panel-events.ts';
import { Alarm, AlarmActions, AlarmActionsDone } from '#contract/history/alarm.ts';
import { HistoryNotification, NotificationEvent, NotifyBody } from '#contract/history/notification.ts';
import * as events from '#contract/panels/panel.ts';
import { ReadyEvent } from '#contract/panels/panel.ts';

/** What of JSON Schema the contract uses. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[] | undefined;
  readonly description?: string;
}

const panelEvents = {
  ready: ReadyEvent,
  notification: NotificationEvent,
  clear: events.ClearEvent,
  acknowledge: events.AcknowledgeEvent,
  unacknowledge: events.UnacknowledgeEvent,
  shelve: events.ShelveEvent,
  unshelve: events.UnshelveEvent,
  suppress: events.SuppressEvent,
  unsuppress: events.UnsuppressEvent,
  suppresses: events.SuppressesEvent,
  throttled: events.ThrottledEvent,
  settings: events.SettingsEvent,
  heartbeat: events.HeartbeatEvent,
  gap: events.RestartEvent,
  reset: events.RestartEvent,
  bye: events.ByeEvent,
  identify: events.IdentifyEvent,
  reload: events.ReloadEvent,
  test: events.TestEvent,
} satisfies Record<PanelEvent['type'], object>;

/** The declaration files of the package's client, by name. */
export function clientDeclarations(root: string): Readonly<Record<string, string>> {
  const api = readFileSync(join(root, 'src/client/published-types.d.ts'), 'utf8');
  const data = Object.entries(panelEvents).map(([name, schema]) => `  ${name}: ${typeOf(schema, '  ')};\n`);
  return {
    'client.d.ts': api.replaceAll('./published-contract.ts', './contract.js'),
    'contract.d.ts': `/** A notification to send. */
export type Notification = ${typeOf(NotifyBody)};

/** A notification as history has it. */
export type HistoryNotification = ${typeOf(HistoryNotification)};

/** What the notifications of one key share while it stands. */
export type Alarm = ${typeOf(Alarm)};

/** What to do with which alarms: \`ids\` of their notifications, or all that match \`q\`. */
export type AlarmActions = ${typeOf(AlarmActions)};

/** How many alarms were changed, and why the others were not. */
export type AlarmActionsDone = ${typeOf(AlarmActionsDone)};

/** The data of each event of a panel. */
export interface PanelEventData {
${data.join('')}}
`,
  };
}

function typeOf(schema: Schema, indent = ''): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map((form) => typeOf(form, indent)).join(' | ');
  switch (schema.type) {
    case 'array':
      return `(${typeOf(schema.items ?? {}, indent)})[]`;
    case 'object':
      return objectType(schema, indent);
    case 'integer':
      return 'number';
    case undefined:
      return 'unknown';
    default:
      return schema.type;
  }
}

function objectType({ properties, patternProperties, required = [] }: Schema, indent: string): string {
  const [ofOthers] = Object.values(patternProperties ?? {});
  if (ofOthers) return `Record<string, ${typeOf(ofOthers, indent)}>`;
  const inner = `${indent}  `;
  const fields = Object.entries(properties ?? {}).map(([name, property]) => {
    const schema = property as Schema;
    const comment = schema.description
      ? `${inner}/** ${schema.description.replaceAll('*/', '*\\/')} */\n`
      : '';
    return `${comment}${inner}${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema, inner)};\n`;
  });
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('')}${indent}}`;
}
