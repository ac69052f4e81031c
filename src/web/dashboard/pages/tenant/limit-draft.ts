/** A limit while somebody types it: the server's own, one of its own, or none. */
export interface LimitDraft {
  readonly kind: 'server' | 'own' | 'off';
  readonly value: number | string;
}

export const limitDraftOf = (limit: number | 'off' | null): LimitDraft => ({
  kind: limit === null ? 'server' : limit === 'off' ? 'off' : 'own',
  value: typeof limit === 'number' ? limit : '',
});

export interface LimitBounds {
  readonly most: number;
  readonly whole: boolean;
}

/** undefined while the number is none. */
export function limitOf(
  { kind, value }: LimitDraft,
  { most, whole }: LimitBounds,
): number | 'off' | null | undefined {
  if (kind !== 'own') return kind === 'off' ? 'off' : null;
  const number = Number(value);
  const isRight = value !== '' && number > 0 && number <= most && (!whole || Number.isInteger(number));
  return isRight ? number : undefined;
}
