/** What the streams of one tenant share, and a panel's connection: its screen, its cursor and the settings that it is sent. */
import { hash } from 'node:crypto';
import type { SettingsEvent, SuppressesEvent } from '#contract/panels/panel.ts';
import { type Cursor, encodeSse } from '#contract/panels/sse.ts';
import type { Entry } from '../log/log.ts';
import { reaches } from '../log/target.ts';
import { getOrMake } from '../maps.ts';
import type { PanelRecord, Screen } from '../tenants/directory.ts';
import type { TenantSnapshot } from '../tenants/tenancy.ts';
import type { Encoding, StreamKind } from './encoding.ts';
import type { Follower } from './follow.ts';
import { type Frame, FrameBuffer } from './frame-buffer.ts';
import type { PanelStream } from './panel-stream.ts';
import { type Suppressing, type SuppressingReader, suppressesEvent } from './suppresses.ts';

/** State of one connected stream. */
export interface ConnectionState {
  readonly kind: StreamKind;
  readonly screen: Screen;
  /** Digest of the settings that were last sent to it. */
  settingsDigest: string;
  /** Digest of the last `suppresses` event sent, by the id of the notification. */
  readonly suppresses: Map<string, string>;
}

/** The newest frames of a log in one encoding. */
export class Feed {
  readonly buffer: FrameBuffer;
  readonly encoding: Encoding;
  /** How many streams read it. */
  streams = 0;
  readonly #onError: (error: unknown) => void;
  /** Set while frames are encoded: those of later entries wait for it. */
  #encoding: Promise<void> | undefined;

  constructor(encoding: Encoding, head: number, onError: (error: unknown) => void) {
    this.encoding = encoding;
    this.buffer = new FrameBuffer(head);
    this.#onError = onError;
  }

  /** Adds the next entries, at once or soon; then calls back. */
  push(entries: readonly Entry[], now: number, onPushed: () => void): void {
    const upTo = entries.at(-1)?.position ?? this.buffer.head;
    const add = (frames: Iterable<Frame>) => {
      this.buffer.push(frames, upTo);
      onPushed();
    };
    const frames = this.#encoding
      ? this.#encoding.then(() => this.encoding.framesOf(entries, now, this.#onError))
      : this.encoding.framesOf(entries, now, this.#onError);
    if (!(frames instanceof Promise)) return add(frames);
    const encoding = frames.then(add, (error: unknown) => {
      this.#onError(error);
      // Streams read these entries from history.
      this.buffer.reset(upTo);
      onPushed();
    });
    const done: Promise<void> = encoding.then(() => {
      if (this.#encoding === done) this.#encoding = undefined;
    });
    this.#encoding = done;
  }

  /** Drops all frames and continues after `position`. */
  reset(position: number): void {
    if (this.#encoding) void this.#encoding.then(() => this.buffer.reset(position));
    else this.buffer.reset(position);
  }
}

/** One tenant: the follower of its log, the newest frames, and the streams that share them. */
export interface Hub {
  /** By the name of the kind of stream: those that are in use, and that of screens. */
  readonly feeds: Map<string, Feed>;
  readonly follower: Follower;
  /** In the order of connecting. */
  readonly connections: Map<PanelStream, ConnectionState>;
  readonly suppressing: SuppressingReader;
}

/** Random for each client, so that clients do not all reconnect at the same moment. */
export const retryMs = () => 2_000 + Math.floor(Math.random() * 6_000);

/** Ends the streams of a hub; their panels come back within some seconds, not all at the same moment. */
export function sayBye(hub: Hub | undefined): void {
  for (const stream of hub?.connections.keys() ?? [])
    stream.end(encodeSse({ event: 'bye', data: { reconnectMs: 500 + Math.floor(Math.random() * 4_500) } }));
}

/** A hub that is open or opening. */
export interface TenantStreamsEntry {
  /** Rejects if the log cannot be read; connecting panels wait for it. */
  readonly opening: Promise<Hub>;
  /** Set once open. Only connecting panels wait for `opening`: a slow read for one tenant must not delay the others. */
  hub: Hub | undefined;
  /** Streams that are connected or connecting; the hub is kept while there are any. */
  users: number;
}

/** A panel, one of its screens, and the cursor of the panel. */
export interface PanelContact extends Screen {
  readonly id: string;
  /** All entries up to this position have been written to the stream. */
  readonly cursor: number;
}

/** A panel with one of its connected screens. */
export interface ConnectedPanel extends PanelContact {
  /** Positions behind the head. */
  readonly lag: number;
}

/** The panels of these connections (or only `panelId`), each with its newest screen and the highest cursor of its streams. */
export function connectedPanels(
  connections: Iterable<readonly [PanelStream, { readonly screen: Screen }]>,
  head: number,
  panelId?: string,
): Map<string, ConnectedPanel> {
  const panels = new Map<string, ConnectedPanel>();
  for (const [stream, { screen }] of connections) {
    if (stream.closed) continue;
    for (const { id } of stream.panels) {
      if (panelId !== undefined && id !== panelId) continue;
      const cursor = Math.max(stream.cursor, panels.get(id)?.cursor ?? 0);
      panels.set(id, { id, cursor, lag: Math.max(0, head - cursor), ...screen });
    }
  }
  return panels;
}

/** The screen that connects, and the cursor from which it resumes. */
export interface ConnectRequest {
  readonly from: Cursor | undefined;
  readonly screen: Screen;
  readonly kind: StreamKind;
}

/** The settings that all panels of a tenant share, made once for each snapshot. */
interface SharedSettings {
  readonly data: Omit<SettingsEvent, 'panel'>;
  readonly digest: string;
}
const shared = new WeakMap<TenantSnapshot, SharedSettings>();

function sharedSettings(snapshot: TenantSnapshot): SharedSettings {
  return getOrMake(shared, snapshot, ({ record, levels }) => {
    const data = {
      tenant: { name: record.name, title: record.title, timeZone: record.timeZone },
      levels: [...levels.values()],
    };
    return { data, digest: digestOf(data) };
  });
}

/** The `settings` event: the panel, its tenant and the levels. Equal settings have equal digests. */
export function settingsOf(
  snapshot: TenantSnapshot,
  { id, name, tags, location, display }: PanelRecord,
): { readonly data: SettingsEvent; readonly digest: string } {
  const { data, digest } = sharedSettings(snapshot);
  const panel = { id, name, tags: [...tags], location, display };
  return { data: { panel, ...data }, digest: digest + digestOf(panel) };
}

const digestOf = (settings: unknown) => hash('sha1', JSON.stringify(settings), 'base64');

/** Sends a stream the settings of its panel if they changed. The stream of a deleted panel ends, and of a suspended tenant. */
export function updateSettings(snapshot: TenantSnapshot, stream: PanelStream, state: ConnectionState): void {
  const panels = stream.panels.map(({ id }) => snapshot.panels.get(id));
  const [panel] = panels;
  if (!panel || panels.includes(undefined) || snapshot.record.state !== 'active') return stream.end();
  for (const each of panels) if (each) stream.updateAddress(each);
  const { data, digest } = settingsOf(snapshot, panel);
  if (digest === state.settingsDigest) return;
  state.settingsDigest = digest;
  stream.sendEvent('settings', data);
}

/** Sends a stream the `suppresses` events that have changed. */
export function updateSuppresses(
  snapshot: TenantSnapshot,
  stream: PanelStream,
  { suppresses }: Pick<ConnectionState, 'suppresses'>,
  suppressing: readonly Suppressing[],
): void {
  const panel = snapshot.panels.get(stream.panels[0]?.id ?? '');
  if (!panel || !stream.hasEvents) return;
  const ended = new Set(suppresses.keys());
  for (const each of suppressing) {
    if (!reaches(each.cause.route.target, panel)) continue;
    const event = suppressesEvent(each, panel);
    ended.delete(event.id);
    const digest = digestOf(event);
    if (suppresses.get(event.id) === digest || (event.count === 0 && !suppresses.has(event.id))) continue;
    suppresses.set(event.id, digest);
    stream.sendEvent('suppresses', event);
  }
  for (const id of ended) {
    suppresses.delete(id);
    stream.sendEvent('suppresses', { id, count: 0, alarms: [] } satisfies SuppressesEvent);
  }
}
