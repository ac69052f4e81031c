import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { patternFieldNames } from '#contract/history/fields.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { conditionFields } from '#web/dashboard/rule-text/rule-sentence.ts';
import { useNameWarnings } from '#web/dashboard/rule-text/rule-text.tsx';
import {
  type ConditionField,
  type DraftCondition,
  type FieldProblems,
  isText,
  isUsed,
  placeOf,
  type TextHow,
  textHows,
} from './draft.ts';
import styles from './editor.module.css';
import { AddRow, EditorLevelSelect, EditorRow, EditorSelect, useOffers, ValueField } from './editor-row.tsx';

const monoFields: readonly ConditionField[] = [...patternFieldNames, 'ip', 'sourceIp'];

/** "When host is … and level is at least …": a row for each condition, and one to add another. */
export function ConditionRows({
  value: conditions,
  onChange,
  problems,
}: Field<readonly DraftCondition[]> & { problems: FieldProblems }) {
  const { t } = useTranslation('rules');
  const levels = useLevels();
  const [added, setAdded] = useState<string>();
  const add = (field: ConditionField) => {
    const middle = levels.has('warning') ? 'warning' : [...levels.keys()][0];
    const condition: DraftCondition = {
      field,
      not: isUsed(conditions, field, false),
      how: 'contains',
      values: field === 'minLevel' && middle !== undefined ? [middle] : [],
    };
    setAdded(placeOf(condition));
    onChange([...conditions, condition]);
  };
  return (
    <>
      {conditions.map((condition, index) => (
        <ConditionRow
          key={placeOf(condition)}
          lead={t(index === 0 ? 'lead.when' : 'lead.and')}
          condition={condition}
          canNegate={!isUsed(conditions, condition.field, !condition.not)}
          isNew={added === placeOf(condition)}
          onChange={(next) => onChange(conditions.with(index, next))}
          onRemove={() => onChange(conditions.toSpliced(index, 1))}
          problems={problems}
        />
      ))}
      <AddRow
        lead={t(conditions.length === 0 ? 'lead.always' : 'lead.and')}
        label={t('addCondition')}
        choices={conditionFields
          .filter((field) => !(isUsed(conditions, field, false) && isUsed(conditions, field, true)))
          .map((field) => [field, t(field === 'minLevel' ? 'minLevelChoice' : `field.${field}`)] as const)}
        onAdd={add}
        autofocus
      />
    </>
  );
}

function ConditionRow({
  lead,
  condition,
  canNegate,
  isNew,
  onChange,
  onRemove,
  problems,
}: {
  lead: string;
  condition: DraftCondition;
  canNegate: boolean;
  isNew: boolean;
  onChange: (condition: DraftCondition) => void;
  onRemove: () => void;
  problems: FieldProblems;
}) {
  const { t } = useTranslation('rules');
  const { t: words } = useTranslation('ruleSentence');
  const { field, not, how, values } = condition;
  const name = words(`field.${field}`);
  const { offers, search } = useOffers(field);
  const lookOf = useLevelLook();
  const problem = problems.at(placeOf(condition));
  const warningsOf = useNameWarnings();
  const warnings = isText(field) ? [] : warningsOf({ [field]: values }).map(({ text }) => text);
  return (
    <EditorRow
      lead={lead}
      problem={problem}
      warnings={warnings}
      removeLabel={t('removeCondition', { name })}
      onRemove={onRemove}
    >
      <span className={styles.field}>{name}</span>
      <Operator
        label={t('operatorOf', { name })}
        {...{ field, not, how, canNegate }}
        onChange={(next) => onChange({ ...condition, ...next })}
      />
      {field === 'minLevel' ? (
        <EditorLevelSelect
          label={t('valuesOf', { name })}
          value={values[0] ?? ''}
          onChange={(level) => onChange({ ...condition, values: [level] })}
        />
      ) : (
        <ValueField
          label={t('valuesOf', { name })}
          placeholder={t(
            `example.${isText(field) ? (how === 'regex' ? 'regex' : how === 'glob' ? 'glob' : 'text') : field}`,
          )}
          values={values}
          onChange={(next) => onChange({ ...condition, values: next })}
          offers={offers}
          labelOf={field === 'level' ? (level) => lookOf(level).word : undefined}
          onSearch={search}
          splitChars={isText(field) ? [] : field === 'token' ? [','] : [',', ' ']}
          problem={problem}
          isMono={monoFields.includes(field) || (isText(field) && how !== 'contains')}
          autoFocus={isNew}
        />
      )}
    </EditorRow>
  );
}

/** Is or is not; for texts also how they are compared. */
function Operator({
  label,
  field,
  not,
  how,
  canNegate,
  onChange,
}: {
  label: string;
  field: ConditionField;
  not: boolean;
  how: TextHow;
  canNegate: boolean;
  onChange: (next: Pick<DraftCondition, 'not' | 'how'>) => void;
}) {
  const { t } = useTranslation('rules');
  const kind = operatorKind(field);
  const hows = isText(field) ? textHows : ([how] as const);
  return (
    <EditorSelect
      label={label}
      value={`${not} ${how}`}
      onChange={(next) => {
        const [isNot, nextHow] = next.split(' ');
        onChange({ not: isNot === 'true', how: nextHow as TextHow });
      }}
      options={hows.flatMap((each) =>
        [false, true].map(
          (isNot) =>
            [
              `${isNot} ${each}`,
              t(`operator.${kind ?? each}${isNot ? 'Not' : ''}`),
              isNot !== not && !canNegate,
            ] as const,
        ),
      )}
    />
  );
}

function operatorKind(field: ConditionField): 'is' | 'within' | 'atLeast' | undefined {
  if (isText(field)) return undefined;
  if (field === 'minLevel') return 'atLeast';
  return field === 'ip' || field === 'sourceIp' ? 'within' : 'is';
}
