import type { Topic } from '#core/bus.ts';

/** The name of a topic in messages between nodes. */
export const topicName = (topic: Topic): string => String(topic);

/** undefined for any other name, because everybody who may connect can send messages. */
export function parseTopic(name: string): Topic | undefined {
  if (name === 'directory' || name === 'commands') return name;
  return /^[1-9]\d{0,15}$/.test(name) ? Number(name) : undefined;
}
