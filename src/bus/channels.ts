import type { Channel } from '#core/ports.ts';

/** A channel as it is named on the wire. */
export const channelName = (channel: Channel): string => String(channel);

/** undefined: not a name of ours; anybody who may connect can send anything. */
export function parseChannel(name: string): Channel | undefined {
  if (name === 'directory' || name === 'commands') return name;
  return /^[1-9]\d{0,15}$/.test(name) ? Number(name) : undefined;
}
