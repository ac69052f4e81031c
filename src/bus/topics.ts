import type { Topic } from '#core/ports.ts';

/** A topic as it is named on the wire. */
export const topicName = (topic: Topic): string => String(topic);

/** undefined: not a name of ours; anybody who may connect can send anything. */
export function parseTopic(name: string): Topic | undefined {
  if (name === 'directory' || name === 'commands') return name;
  return /^[1-9]\d{0,15}$/.test(name) ? Number(name) : undefined;
}
