import { Switch, Textarea, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';
import { ActionRows } from './action-rows.tsx';
import { ConditionRows } from './condition-rows.tsx';
import type { Draft } from './draft.ts';
import styles from './editor.module.css';
import type { Faults } from './rule-problem.ts';
import { TimeRows } from './time-rows.tsx';

/** A rule as one writes it, in the order of its sentence. */
export function RuleForm({
  draft,
  onChange,
  suggestion,
  faults,
  place,
}: {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  suggestion: string;
  faults: Faults;
  /** Where a new rule is to stand. */
  place?: ReactNode;
}) {
  const { t } = useTranslation('rules');
  return (
    <div className={styles.form}>
      <section className={styles.part} aria-label={t('part.sentence')}>
        <ConditionRows
          conditions={draft.conditions}
          onChange={(conditions) => onChange({ conditions })}
          faults={faults}
        />
        <ActionRows
          then={draft.then}
          onChange={(then) => onChange({ then })}
          activeUntil={draft.activeUntil}
          onEnd={(activeUntil) => onChange({ activeUntil })}
          faults={faults}
        />
        <div className={styles.row}>
          <span className={styles.lead}>{t('lead.then')}</span>
          <Switch
            size="sm"
            checked={draft.continue}
            onChange={({ currentTarget }) => onChange({ continue: currentTarget.checked })}
            label={t('goOn')}
            description={t(draft.continue ? 'goOnAbout' : 'stopAbout')}
            mt={8}
          />
        </div>
      </section>
      <section className={styles.part}>
        <h3>{t('part.times')}</h3>
        <TimeRows
          times={draft}
          onChange={onChange}
          faults={faults}
          endIsElsewhere={draft.then.mute === true}
        />
      </section>
      <section className={styles.about}>
        <TextInput
          label={t('name')}
          placeholder={suggestion}
          description={draft.name.trim() === '' ? t('nameAbout') : undefined}
          maxLength={100}
          value={draft.name}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
          error={faults.at('name')?.text}
        />
        <Textarea
          label={t('note')}
          placeholder={t('noteAbout')}
          maxLength={2_000}
          rows={2}
          value={draft.note}
          onChange={({ currentTarget }) => onChange({ note: currentTarget.value })}
          error={faults.at('note')?.text}
        />
        {place}
        <Switch
          checked={draft.enabled}
          onChange={({ currentTarget }) => onChange({ enabled: currentTarget.checked })}
          label={t('enabled')}
        />
      </section>
    </div>
  );
}

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
