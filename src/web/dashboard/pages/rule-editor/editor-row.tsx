import plusIcon from 'virtual:icon/plus';
import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button, Menu, Pill, TagsInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { mapPatternFields, type ValueKey } from '#contract/history/fields.ts';
import { labelPair } from '#contract/history/labels.ts';
import { fieldValuesQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { LevelSelect } from '#web/dashboard/fields/choice-fields.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import type { ConditionField, FieldProblem } from './draft.ts';
import styles from './editor.module.css';

/** A part of the rule's sentence, with its error below. */
export function EditorRow({
  lead,
  problem,
  warnings = [],
  hint,
  removeLabel,
  onRemove,
  children,
}: {
  lead: string;
  problem?: FieldProblem | undefined;
  /** What is valid and probably a mistake. */
  warnings?: readonly string[];
  hint?: string | undefined;
  removeLabel?: string;
  onRemove?: () => void;
  children: ReactNode;
}) {
  return (
    <div className={styles.row}>
      <span className={styles.lead}>{lead}</span>
      <div>
        <div className={styles.chip} data-wrong={problem !== undefined || undefined}>
          {children}
          {onRemove && (
            <ActionIcon size="sm" className={styles.remove ?? ''} aria-label={removeLabel} onClick={onRemove}>
              <Icon paths={removeIcon} size={14} />
            </ActionIcon>
          )}
        </div>
        <ProblemText problem={problem} />
        {warnings.map((text) => (
          <p key={text} className={styles.warning} role="status">
            {text}
          </p>
        ))}
        {hint !== undefined && (
          <p className={styles.hint} role="status">
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

function ProblemText({ problem }: { problem: FieldProblem | undefined }) {
  return (
    problem && (
      <p className={styles.problem} id={problem.id} role="alert">
        {problem.text}
      </p>
    )
  );
}

/** The last row of a list: a button with a menu of what can be added. */
export function AddRow<Choice extends string>({
  lead,
  label,
  problem,
  choices,
  onAdd,
  autofocus = false,
}: {
  lead: string;
  label: string;
  problem?: FieldProblem | undefined;
  choices: readonly (readonly [choice: Choice, text: string])[];
  onAdd: (choice: Choice) => void;
  autofocus?: boolean;
}) {
  return (
    <div className={styles.row}>
      <span className={styles.lead}>{lead}</span>
      <div>
        {/* The focus goes to the new row, not back to the button. */}
        <Menu position="bottom-start" width={280} returnFocus={false}>
          <Menu.Target>
            <Button
              size="xs"
              variant="subtle"
              className={styles.add ?? ''}
              data-autofocus={autofocus || undefined}
              leftSection={<Icon paths={plusIcon} size={14} />}
              disabled={choices.length === 0}
            >
              {label}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {choices.map(([choice, text]) => (
              <Menu.Item key={choice} onClick={() => onAdd(choice)}>
                <span className={styles.menuField}>{text}</span>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
        <ProblemText problem={problem} />
      </div>
    </div>
  );
}

export function EditorLevelSelect({
  label,
  ...props
}: Field<string> & { label: string; emptyLabel?: string }) {
  const input = styles.levelSelect ?? '';
  return <LevelSelect {...props} variant="unstyled" size="xs" classNames={{ input }} aria-label={label} />;
}

/** A choice within a row. */
export function EditorSelect<Value extends string>({
  label,
  value,
  onChange,
  options,
}: Field<Value> & {
  label: string;
  options: readonly (readonly [value: Value, text: string, isDisabled?: boolean])[];
}) {
  return (
    <select
      className={styles.select}
      aria-label={label}
      value={value}
      onChange={({ target }) => onChange(target.value as Value)}
    >
      {options.map(([each, text, isDisabled]) => (
        <option key={each} value={each} disabled={isDisabled}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface ValueFieldProps {
  readonly label: string;
  readonly placeholder: string;
  readonly values: readonly string[];
  readonly onChange: (values: string[]) => void;
  /** Suggestions for the typed text. */
  readonly offers: readonly string[];
  /** The word that is shown for a value, and may be typed for it. */
  readonly labelOf?: ((value: string) => string) | undefined;
  readonly onSearch?: (typed: string) => void;
  /** Characters that end a value; none if a value may contain any. */
  readonly splitChars?: string[];
  readonly problem: FieldProblem | undefined;
  readonly isMono?: boolean;
  readonly autoFocus?: boolean;
}

/** Several values: typed, pasted or chosen. An invalid value is marked. */
export function ValueField({ values, labelOf, ...props }: ValueFieldProps) {
  const { problem, isMono = false, autoFocus = false } = props;
  const isWrong = problem !== undefined;
  const data = props.offers.map((value) => ({ value, label: labelOf?.(value) ?? value }));
  const nameOf = (typed: string) =>
    data.find(({ label }) => label.toLowerCase() === typed.toLowerCase())?.value ?? typed;
  const wrongValue = problem?.at === undefined ? undefined : values[problem.at];
  return (
    <TagsInput
      size="xs"
      className={styles.values ?? ''}
      aria-label={props.label}
      aria-invalid={isWrong}
      aria-describedby={problem?.id}
      error={isWrong}
      placeholder={values.length === 0 ? props.placeholder : ''}
      value={[...values]}
      onChange={(next) => props.onChange(labelOf ? next.map(nameOf) : next)}
      data={data}
      onSearchChange={(typed) => props.onSearch?.(typed)}
      splitChars={props.splitChars ?? [',']}
      isDuplicate={(value, others) => others.includes(value)}
      data-autofocus={autoFocus || undefined}
      autoFocus={autoFocus}
      renderPill={({ option, onRemove }) => (
        <Pill
          size="sm"
          className={isMono ? styles.monoPill : styles.pill}
          data-wrong={(isWrong && option !== undefined && option.value === wrongValue) || undefined}
          withRemoveButton
          {...(onRemove && { onRemove })}
          removeButtonProps={{ tabIndex: -1 }}
        >
          {/* The value of a label may be empty. */}
          <bdi>{option?.label || '""'}</bdi>
        </Pill>
      )}
    />
  );
}

const inHistory = {
  ...mapPatternFields((name) => name),
  ...({ ip: 'ip', sourceIp: 'source', token: 'token' } as const),
};

interface Offers {
  readonly offers: readonly string[];
  readonly search: (typed: string) => void;
}

/** Known values of a field, or of the label of this name, to suggest them. */
export function useOffers(field: ConditionField, label = ''): Offers {
  const start = label === '' ? '' : labelPair(label, '');
  const named = field in inHistory ? inHistory[field as keyof typeof inHistory] : undefined;
  const { offers, search } = useKnownValues(start === '' ? named : 'label', start);
  const levels = useLevels();
  if (field === 'level' || field === 'minLevel') return { offers: [...levels.keys()], search };
  return { offers: offers.map((value) => value.slice(start.length)).filter((value) => value !== ''), search };
}

/** The names of labels. */
export function useLabelNames(): Offers {
  const { offers, search } = useKnownValues('label');
  return { offers: offers.filter((each) => each.endsWith('=')).map((each) => each.slice(0, -1)), search };
}

/** Labels as `name=value`, once the name is typed. */
export function useLabelPairs(): Offers {
  const { offers, search } = useKnownValues('label');
  return { offers: offers.filter((each) => !each.endsWith('=')), search };
}

/** What history has for a key of searches, beginning with this and what is typed; nothing without a key. */
function useKnownValues(key: ValueKey | undefined, start = ''): Offers {
  const [typed, search] = useState('');
  const [prefix] = useDebouncedValue(start + typed, 200);
  const { data } = useQuery({
    ...fieldValuesQuery(useTenant(), key ?? 'host', prefix.slice(0, 255)),
    enabled: key !== undefined,
  });
  return { offers: key === undefined ? [] : (data ?? []), search };
}
