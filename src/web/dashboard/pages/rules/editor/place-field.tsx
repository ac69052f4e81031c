import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';
import styles from './editor.module.css';

/** Where a new rule is to stand: the first that matches and does not go on ends the walk. */
export function PlaceField({
  rules,
  place,
  onChange,
}: {
  rules: readonly Rule[];
  place: number;
  onChange: (place: number) => void;
}) {
  const { t } = useTranslation('rules');
  if (rules.length === 0) return null;
  const last = rules.length;
  const between = place > 0 && place < last ? rules[place - 1] : undefined;
  return (
    <label className={styles.place}>
      {t('place')}
      <select
        className={styles.select}
        value={place}
        onChange={({ target }) => onChange(Number(target.value))}
      >
        <option value={0}>{t('placeFirst')}</option>
        {between && <option value={place}>{t('placeAfter', { number: place, name: between.name })}</option>}
        <option value={last}>{t('placeLast')}</option>
      </select>
    </label>
  );
}
