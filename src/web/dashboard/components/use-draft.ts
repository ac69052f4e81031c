import { useLayoutEffect, useState } from 'react';

/** What is being written over what is saved. It stays whatever comes in the meantime. */
interface DraftOver<D> {
  readonly shown: D;
  /** Something is other than what is saved. */
  readonly isDirty: boolean;
  change(some: Partial<D>): void;
  discard(): void;
  /** This much of it is saved; what was written since stays. */
  settle(saved: D): void;
}

/** @param onDirty is told at once, for who asks before it is lost. */
export function useDraft<D extends object>(saved: D, onDirty: (isDirty: boolean) => void): DraftOver<D> {
  const [draft, setDraft] = useState<D>();
  const shown = draft ?? saved;
  const isDirty = draft !== undefined && JSON.stringify(draft) !== JSON.stringify(saved);
  useLayoutEffect(() => onDirty(isDirty), [isDirty, onDirty]);
  return {
    shown,
    isDirty,
    change: (some) => setDraft((now) => ({ ...(now ?? saved), ...some })),
    discard: () => setDraft(undefined),
    settle: (sent) => setDraft((now) => (now === sent ? undefined : now)),
  };
}
