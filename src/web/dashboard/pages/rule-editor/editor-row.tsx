import plusIcon from 'virtual:icon/plus';
import removeIcon from 'virtual:icon/x';
import { ActionIcon, Button, Menu } from '@mantine/core';
import type { ReactNode } from 'react';
import { Icon } from '#web/dashboard/components/icon.tsx';
import type { Field } from '#web/dashboard/fields/field.ts';
import { LevelSelect } from '#web/dashboard/fields/level-select.tsx';
import styles from './editor.module.css';
import type { FieldProblem } from './rule-problem.ts';

/** A part of the rule's sentence, with its error below. */
export function EditorRow({
  lead,
  problem,
  warnings = [],
  removeLabel,
  onRemove,
  children,
}: {
  lead: string;
  problem?: FieldProblem | undefined;
  /** What is valid and probably a mistake. */
  warnings?: readonly string[];
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
