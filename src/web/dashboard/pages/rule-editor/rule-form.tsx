import { Switch, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import { ActionRows } from './action-rows.tsx';
import { ConditionRows } from './condition-rows.tsx';
import styles from './editor.module.css';
import { TimeRows } from './time-rows.tsx';
import type { RuleDraft } from './use-rule-draft.ts';

/** The fields of a rule, in the order of its sentence. */
export function RuleForm({ draft, rules }: { draft: RuleDraft; rules: readonly Rule[] }) {
  const { t } = useTranslation('rules');
  const { fields, change, problems } = draft;
  return (
    <div className={styles.form}>
      <section className={styles.part} aria-label={t('part.sentence')}>
        <ConditionRows
          value={fields.conditions}
          onChange={(conditions) => change({ conditions })}
          problems={problems}
        />
        <ActionRows
          then={fields.then}
          onChange={(then) => change({ then })}
          activeUntil={fields.activeUntil}
          onEnd={(activeUntil) => change({ activeUntil })}
          problems={problems}
        />
        <div className={styles.row}>
          <span className={styles.lead}>{t('lead.then')}</span>
          <Switch
            size="sm"
            checked={fields.continue}
            onChange={({ currentTarget }) => change({ continue: currentTarget.checked })}
            label={t('goOn')}
            description={t(fields.continue ? 'goOnAbout' : 'stopAbout')}
            mt={8}
          />
        </div>
      </section>
      <section className={styles.part}>
        <h3>{t('part.times')}</h3>
        <TimeRows
          times={fields}
          onChange={change}
          problems={problems}
          endIsElsewhere={fields.then.mute === true}
        />
      </section>
      <section className={styles.about}>
        <TextInput
          label={t('name')}
          placeholder={draft.suggestedName}
          description={fields.name.trim() === '' && t('nameAbout')}
          maxLength={100}
          value={fields.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          error={problems.at('name')?.text}
        />
        <Textarea
          label={t('note')}
          placeholder={t('noteAbout')}
          maxLength={2_000}
          rows={2}
          value={fields.note}
          onChange={({ currentTarget }) => change({ note: currentTarget.value })}
          error={problems.at('note')?.text}
        />
        {draft.isNew && rules.length > 0 && (
          <PlaceField rules={rules} place={draft.place} onChange={draft.setPlace} />
        )}
        <Switch
          checked={fields.enabled}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
          label={t('enabled')}
        />
      </section>
    </div>
  );
}

/** The place of a new rule. It matters: the first rule that matches and does not continue is the last that is tried. */
function PlaceField({
  rules,
  place,
  onChange,
}: {
  rules: readonly Rule[];
  place: number;
  onChange: (place: number) => void;
}) {
  const { t } = useTranslation('rules');
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
