import searchIcon from 'virtual:icon/search';
import clearIcon from 'virtual:icon/x';
import { ActionIcon } from '@mantine/core';
import { type FormEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import type { QueryComplaint } from '#web/dashboard/query/query-complaint.ts';
import { Complaint } from './complaint.tsx';
import { Completions, completionId, completionsId } from './completions.tsx';
import { PaintedQuery } from './painted-query.tsx';
import styles from './search-box.module.css';
import { type Completing, useCompleting } from './use-completing.ts';

export interface SearchBoxProps extends Completing {
  /** Runs the search as it stands, or this one. */
  readonly onSearch: (text?: string) => void;
  readonly complaint: QueryComplaint | undefined;
  /** What is typed is not what is shown below. */
  readonly isChanged: boolean;
}

/** The search, coloured and completed as it is typed, its error at the place. */
export function SearchBox(props: SearchBoxProps) {
  const { input, draft, onDraft, onSearch, complaint, isChanged } = props;
  const { t } = useTranslation('history');
  const paint = useRef<HTMLDivElement>(null);
  const follow = () => {
    if (paint.current && input.current) paint.current.scrollLeft = input.current.scrollLeft;
  };
  const { ask, choices, active, take, close, field } = useCompleting(props, follow);
  const isOpen = ask !== undefined && choices.length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    close();
    onSearch();
  };
  const clear = () => {
    onDraft('');
    onSearch('');
    input.current?.focus();
  };
  return (
    <search className={styles.form}>
      <form onSubmit={submit}>
        <div className={`${styles.box} ${complaint ? styles.bad : ''}`}>
          <Icon paths={searchIcon} size={16} />
          <div className={styles.field}>
            <PaintedQuery ref={paint} text={draft} complaint={complaint} />
            <input
              ref={input}
              className={styles.input}
              type="text"
              role="combobox"
              value={draft}
              maxLength={limits.queryChars * 2}
              placeholder={t('searchPlaceholder')}
              aria-label={t('search')}
              aria-invalid={complaint !== undefined}
              aria-describedby="search-complaint"
              aria-autocomplete="list"
              aria-expanded={isOpen}
              aria-controls={isOpen ? completionsId : undefined}
              aria-activedescendant={isOpen && active >= 0 ? completionId(active) : undefined}
              autoComplete="off"
              autoCapitalize="off"
              autoCorrect="off"
              spellCheck={false}
              enterKeyHint="search"
              onScroll={follow}
              {...field}
            />
            {isOpen && <Completions ask={ask} choices={choices} active={active} onChoose={take} />}
          </div>
          {draft !== '' && (
            <ActionIcon size="sm" onClick={clear} aria-label={t('clearSearch')}>
              <Icon paths={clearIcon} size={14} />
            </ActionIcon>
          )}
          <kbd className={styles.hint} data-key={isChanged ? 'Enter' : '/'}>
            {isChanged ? 'Enter' : '/'}
          </kbd>
        </div>
        <Complaint
          complaint={complaint}
          onChoose={(text) => {
            onDraft(text);
            onSearch(text);
            input.current?.focus();
          }}
        />
      </form>
    </search>
  );
}
