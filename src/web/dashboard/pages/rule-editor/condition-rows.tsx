import { Autocomplete } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { patternFieldNames } from '#contract/history/fields.ts';
import { labelPair } from '#contract/history/labels.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { conditionFields } from '#web/dashboard/rule-text/rule-sentence.ts';
import { useNameWarnings } from '#web/dashboard/rule-text/rule-text.tsx';
import {
  type ConditionField,
  type ConditionsPlace,
  type DraftCondition,
  type FieldProblem,
  type FieldProblems,
  isText,
  isUsed,
  placeOf,
  type TextHow,
  textHows,
} from './draft.ts';
import styles from './editor.module.css';
import {
  AddRow,
  EditorLevelSelect,
  EditorRow,
  EditorSelect,
  useLabelNames,
  useOffers,
  ValueField,
} from './editor-row.tsx';

const monoFields: readonly ConditionField[] = [...patternFieldNames, 'labels', 'ip', 'sourceIp'];

const leads = {
  when: ['lead.when', 'lead.always'],
  'then.suppress.when': ['suppress.whose', 'suppress.all'],
} as const;

/** "When host is … and level is at least …": a row for each condition, and one to add another. */
export function ConditionRows({
  value: conditions,
  onChange,
  problems,
  within = 'when',
}: Field<readonly DraftCondition[]> & { problems: FieldProblems; within?: ConditionsPlace }) {
  const { t } = useTranslation('rules');
  const levels = useLevels();
  const [first, none] = leads[within];
  const [added, setAdded] = useState<string>();
  const add = (field: ConditionField) => {
    const middle = levels.has('warning') ? 'warning' : [...levels.keys()][0];
    const condition: DraftCondition = {
      field,
      not: isUsed(conditions, field, false),
      how: 'contains',
      values: field === 'minLevel' && middle !== undefined ? [middle] : [],
      ...(field === 'labels' && { label: '' }),
    };
    setAdded(placeOf(condition));
    onChange([...conditions, condition]);
  };
  return (
    <>
      {conditions.map((condition, index) => (
        <ConditionRow
          // Another operator, or another name of a label, is the same row.
          key={`${condition.field} ${conditions.slice(0, index).filter(({ field }) => field === condition.field).length}`}
          lead={t(index === 0 ? first : 'lead.and')}
          condition={condition}
          place={placeOf(condition, within)}
          canNegate={!isUsed(conditions, condition.field, !condition.not)}
          isNew={added === placeOf(condition)}
          onChange={(next) => onChange(conditions.with(index, next))}
          onRemove={() => onChange(conditions.toSpliced(index, 1))}
          problems={problems}
        />
      ))}
      <AddRow
        lead={t(conditions.length === 0 ? none : 'lead.and')}
        label={t('addCondition')}
        choices={conditionFields
          .filter((field) => !(isUsed(conditions, field, false) && isUsed(conditions, field, true)))
          .map((field) => [field, t(field === 'minLevel' ? 'minLevelChoice' : `field.${field}`)] as const)}
        onAdd={add}
        autofocus={within === 'when'}
      />
    </>
  );
}

function ConditionRow({
  lead,
  condition,
  place,
  canNegate,
  isNew,
  onChange,
  onRemove,
  problems,
}: {
  lead: string;
  condition: DraftCondition;
  /** As in the server's errors. */
  place: string;
  canNegate: boolean;
  isNew: boolean;
  onChange: (condition: DraftCondition) => void;
  onRemove: () => void;
  problems: FieldProblems;
}) {
  const { t } = useTranslation('rules');
  const { t: words } = useTranslation('ruleSentence');
  const { field, not, how, values, label = '', together } = condition;
  const word = field === 'labels' ? t('label') : words(`field.${field}`);
  const name = label === '' ? word : words('field.label', { name: label });
  const { offers, search } = useOffers(field, label);
  const lookOf = useLevelLook();
  const problem = problems.at(place);
  const warningsOf = useNameWarnings();
  const warnings = isText(field) ? [] : warningsOf({ when: { [field]: values } }).map(({ text }) => text);
  if (together) return <TogetherRow {...{ lead, together, place, onRemove, problems }} />;
  return (
    <EditorRow
      lead={lead}
      problem={problem}
      warnings={warnings}
      removeLabel={t('removeCondition', { name })}
      onRemove={onRemove}
    >
      <span className={styles.field}>{word}</span>
      {field === 'labels' && (
        <LabelName
          value={label}
          onChange={(next) => onChange({ ...condition, label: next })}
          problem={problem?.isOfName ? problem : undefined}
          autoFocus={isNew}
        />
      )}
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
          problem={problem?.isOfName ? undefined : problem}
          isMono={monoFields.includes(field) || (isText(field) && how !== 'contains')}
          autoFocus={isNew && field !== 'labels'}
        />
      )}
    </EditorRow>
  );
}

/** Any name, or one that history knows. */
function LabelName({
  value: name,
  onChange,
  problem,
  autoFocus,
}: Field<string> & { problem: FieldProblem | undefined; autoFocus: boolean }) {
  const { t } = useTranslation('rules');
  const { offers, search } = useLabelNames();
  return (
    <Autocomplete
      size="xs"
      variant="unstyled"
      classNames={{ input: styles.labelName ?? '' }}
      aria-label={t('labelName')}
      aria-invalid={problem !== undefined}
      aria-describedby={problem?.id}
      placeholder={t('example.labelName')}
      value={name}
      onChange={(next) => {
        onChange(next.trim());
        search(next.trim());
      }}
      data={[...offers]}
      autoFocus={autoFocus}
      data-autofocus={autoFocus || undefined}
    />
  );
}

/** Labels that must not be there together. */
function TogetherRow({
  lead,
  together,
  place,
  onRemove,
  problems,
}: {
  lead: string;
  together: NonNullable<DraftCondition['together']>;
  place: string;
  onRemove: () => void;
  problems: FieldProblems;
}) {
  const { t } = useTranslation('rules');
  const labels = Object.entries(together);
  const problem = [place, ...labels.map(([name]) => `${place}.${name}`)].map(problems.at).find(Boolean);
  return (
    <EditorRow
      lead={lead}
      problem={problem}
      removeLabel={t('removeCondition', { name: t('field.labels') })}
      onRemove={onRemove}
    >
      <span className={styles.field}>{t('labelsTogether')}</span>
      {labels.map(([name, patterns]) => (
        <bdi key={name} className={styles.fixed}>
          {labelPair(name, patterns.join(', '))}
        </bdi>
      ))}
      <span className={styles.words}>{t('labelsTogetherAbout')}</span>
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
