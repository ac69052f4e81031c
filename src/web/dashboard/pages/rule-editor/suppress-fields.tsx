import { useTranslation } from 'react-i18next';
import { throttleFields } from '#contract/routing/rule.ts';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { ConditionRows } from './condition-rows.tsx';
import { type DraftSuppress, type FieldProblems, suppressPlace } from './draft.ts';
import styles from './editor.module.css';
import { EditorRow } from './editor-row.tsx';
import { FieldsSelect } from './fields-select.tsx';

/** "while this alarm stands, suppress other alarms whose title contains unreachable, with the same label site": a row for each part. */
export function SuppressFields({
  value: suppress,
  onChange,
  problems,
}: Field<DraftSuppress> & { problems: FieldProblems }) {
  const { t } = useTranslation('rules');
  const problem = problems.at('then.suppress.equal');
  const words = useTranslation('ruleSentence').t;
  const { conditions, equal } = suppress;
  const namesLevels = conditions.some(({ field }) => field === 'level' || field === 'minLevel');
  const isAll = conditions.length === 0 && equal.length === 0;
  return (
    <>
      <span className={styles.field}>{t('suppress.others')}</span>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot be laid out as the rows are */}
      <div className={styles.steps} role="group" aria-label={t('suppress.others')}>
        <ConditionRows
          within={suppressPlace}
          value={conditions}
          onChange={(changed) => onChange({ equal, conditions: changed })}
          problems={problems}
        />
        <EditorRow
          lead={t('suppress.with')}
          problem={problem}
          warnings={isAll ? [words('warning.all')] : namesLevels ? [] : [t('suppress.about')]}
        >
          <span className={styles.words}>{t('suppress.same')}</span>
          <FieldsSelect
            label={t('suppress.sameOf')}
            fields={throttleFields}
            value={equal}
            onChange={(changed) => onChange({ conditions, equal: changed as DraftSuppress['equal'] })}
            emptyText={t('suppress.any')}
            problem={problem}
          />
        </EditorRow>
      </div>
    </>
  );
}
