/** A limit while somebody types it: the server's own, one of its own, or none. */
export interface LimitDraft {
  readonly kind: 'server' | 'own' | 'off';
  readonly value: number | string;
}

export const limitDraftOf = (limit: number | 'off' | null): LimitDraft => ({
  kind: limit === null ? 'server' : limit === 'off' ? 'off' : 'own',
  value: typeof limit === 'number' ? limit : '',
});

/** A whole number from 1 to `most`; undefined while it is none. */
export function limitOf({ kind, value }: LimitDraft, most: number): number | 'off' | null | undefined {
  if (kind !== 'own') return kind === 'off' ? 'off' : null;
  const number = Number(value);
  return value !== '' && number > 0 && number <= most && Number.isInteger(number) ? number : undefined;
}
