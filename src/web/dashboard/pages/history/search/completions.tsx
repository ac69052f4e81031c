import type { CSSProperties } from 'react';
import { useTranslation } from 'react-i18next';
import type { CompletionAsk } from '#web/dashboard/query/completion.ts';
import styles from './completions.module.css';

export const completionsId = 'search-completions';
export const completionId = (index: number) => `search-completion-${index}`;

/** What can stand at the caret, below it; arrows choose, Enter or Tab takes. */
export function Completions({
  ask,
  choices,
  active,
  onChoose,
}: {
  ask: CompletionAsk;
  choices: readonly string[];
  active: number;
  onChoose: (choice: string) => void;
}) {
  const { t } = useTranslation('history');
  return (
    <div
      id={completionsId}
      role="listbox"
      aria-label={t('completions')}
      className={styles.list}
      style={{ '--at': `${ask.start}ch` } as CSSProperties}
    >
      {choices.map((choice, index) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys stay with the input, which names the active one
        <div
          key={choice}
          id={completionId(index)}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={styles.choice}
          // The focus stays in the input.
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(choice)}
        >
          <bdi className={styles.name}>{ask.key === undefined ? `${choice}:` : choice}</bdi>
          {ask.key === undefined && <span className={styles.about}>{t(`key.${choice as 'host'}`)}</span>}
        </div>
      ))}
    </div>
  );
}
