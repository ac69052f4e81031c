import { NumberInput, SegmentedControl } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import styles from './rate-field.module.css';

type RateSetting = { readonly perSecond: number; readonly burst: number } | 'off' | null;

/** A rate while somebody types it. */
export interface RateDraft {
  readonly kind: 'server' | 'own' | 'off';
  readonly perSecond: number | string;
  readonly burst: number | string;
}

export function rateDraftOf(rate: RateSetting): RateDraft {
  const own = typeof rate === 'object' && rate !== null;
  return {
    kind: own ? 'own' : rate === 'off' ? 'off' : 'server',
    perSecond: own ? rate.perSecond : '',
    burst: own ? rate.burst : '',
  };
}

/** undefined while one of the numbers is none. */
export function rateOf({ kind, perSecond, burst }: RateDraft): RateSetting | undefined {
  if (kind !== 'own') return kind === 'off' ? 'off' : null;
  const [rate, most] = [Number(perSecond), Number(burst)];
  const isRate = perSecond !== '' && rate > 0 && rate <= 1_000_000;
  return isRate && Number.isInteger(most) && most >= 1 && most <= 10_000_000
    ? { perSecond: rate, burst: most }
    : undefined;
}

/** How many notifications may come: the server's own limit, one of its own, or none. */
export function RateField({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: RateDraft;
  onChange: (rate: RateDraft) => void;
}) {
  const { t } = useTranslation();
  const id = useId();
  const wrong = value.kind === 'own' && rateOf(value) === undefined;
  return (
    <div className={styles.rate}>
      <div className="mantine-InputWrapper-label" id={id}>
        {label}
      </div>
      <p className={styles.hint}>{hint}</p>
      <SegmentedControl
        fullWidth
        aria-labelledby={id}
        value={value.kind}
        onChange={(kind) => onChange({ ...value, kind })}
        data={(['server', 'own', 'off'] as const).map((kind) => ({ value: kind, label: t(`limit.${kind}`) }))}
      />
      {value.kind === 'own' && (
        <div className={styles.numbers}>
          <NumberInput
            label={t('rate.perSecond')}
            description={t('rate.perSecondHint')}
            min={0}
            max={1_000_000}
            clampBehavior="none"
            hideControls
            value={value.perSecond}
            error={
              wrong && value.perSecond !== '' && !(Number(value.perSecond) > 0) && t('rate.perSecondWrong')
            }
            onChange={(perSecond) => onChange({ ...value, perSecond })}
          />
          <NumberInput
            label={t('rate.burst')}
            description={t('rate.burstHint')}
            min={1}
            max={10_000_000}
            clampBehavior="none"
            allowDecimal={false}
            hideControls
            value={value.burst}
            error={wrong && value.burst !== '' && !(Number(value.burst) >= 1) && t('rate.burstWrong')}
            onChange={(burst) => onChange({ ...value, burst })}
          />
        </div>
      )}
    </div>
  );
}
