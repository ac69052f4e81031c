/** Why answers of channels do not come, as the API shows it: the node that gets the answers writes it, and each node reads it. */
import type { AnswerProblem, AnswerProblems, ChannelRecord } from '#core/channels/channels.ts';

export const nameOf = ({ tenant, id }: Pick<ChannelRecord, 'tenant' | 'id'>) => `${tenant} ${id}`;

/** Writes problems as they change, at most once in an update: what comes and goes within a second is not written. */
export function createShownProblems(store: Pick<AnswerProblems, 'put' | 'clear'>) {
  const current = new Map<string, { channel: ChannelRecord; problem: AnswerProblem | undefined }>();
  const written = new Map<string, AnswerProblem | undefined>();
  /** What another node has written, or this one before it was started again. */
  let isCleared = false;
  return {
    /** `undefined`: answers come. The first one of several failures says since when. */
    set(channel: ChannelRecord, problem: AnswerProblem | undefined): void {
      const name = nameOf(channel);
      const before = current.get(name)?.problem;
      if (before && problem) current.set(name, { channel, problem: { ...problem, since: before.since } });
      else current.set(name, { channel, problem });
    },
    /** No others have problems. */
    keep(names: { has(name: string): boolean }): void {
      for (const [name, { channel }] of current)
        if (!names.has(name)) current.set(name, { channel, problem: undefined });
    },
    async write(): Promise<void> {
      if (!isCleared) await store.clear();
      isCleared = true;
      for (const [name, entry] of current) {
        const { channel, problem } = entry;
        const before = written.get(name);
        if (problem?.since !== before?.since || problem?.message !== before?.message)
          await store.put(channel, problem);
        if (problem) written.set(name, problem);
        else written.delete(name);
        // It may have another problem by now.
        if (!problem && current.get(name) === entry) current.delete(name);
      }
    },
    forget(): void {
      current.clear();
      written.clear();
      isCleared = false;
    },
  };
}
