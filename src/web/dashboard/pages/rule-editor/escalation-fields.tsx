import { useTranslation } from 'react-i18next';
import type { EscalationStep } from '#contract/rule.ts';
import { DurationField } from '#web/dashboard/components/duration-field.tsx';
import styles from './editor.module.css';
import { EditorLevelSelect, EditorSelect } from './editor-row.tsx';

export const initialEscalation: readonly [EscalationStep] = [{ afterMs: 300_000, setLevel: 'critical' }];

/** "escalate after 5 min, unless acknowledged, as critical": the first step. Further steps and panels are written as JSON. */
export function EscalationFields({
  steps,
  onChange,
}: {
  steps: readonly EscalationStep[];
  onChange: (steps: EscalationStep[]) => void;
}) {
  const { t } = useTranslation('rules');
  const [first = initialEscalation[0], ...others] = steps;
  const { afterMs, unless = 'acknowledged', setLevel } = first;
  const change = (some: Partial<EscalationStep>) => onChange([{ ...first, ...some }, ...others]);
  return (
    <>
      <span className={styles.field}>{t('escalate.after')}</span>
      <DurationField
        size="xs"
        label={t('action.escalate')}
        ms={afterMs}
        onChange={(ms) => ms > 0 && change({ afterMs: ms })}
      />
      <span className={styles.words}>{t('escalate.unless')}</span>
      <EditorSelect
        label={t('escalate.unless')}
        value={unless}
        onChange={(next) => change({ unless: next })}
        options={[
          ['acknowledged', t('escalate.acknowledged')],
          ['shown', t('escalate.shown')],
        ]}
      />
      <span className={styles.words}>{t('escalate.as')}</span>
      <EditorLevelSelect
        label={t('escalate.level')}
        value={setLevel ?? ''}
        onChange={(level) => change({ setLevel: level })}
      />
      {others.length > 0 && (
        <span className={styles.words}>{t('escalate.more', { count: others.length })}</span>
      )}
    </>
  );
}
