import searchIcon from 'virtual:icon/search';
import clearIcon from 'virtual:icon/x';
import { ActionIcon, Button } from '@mantine/core';
import { type CSSProperties, type FormEvent, type Ref, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import type { CompletionAsk } from '#web/dashboard/query/completion.ts';
import type { QueryComplaint } from '#web/dashboard/query/query-error.ts';
import { paintQuery, type QueryPiece } from '#web/dashboard/query/query-words.ts';
import styles from './search-box.module.css';
import { type Completing, useCompleting } from './use-completions.ts';

interface SearchBoxProps extends Completing {
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

/** What is wrong with the search, in the server's words, and what it offers instead. */
function Complaint({
  complaint,
  onChoose,
}: {
  complaint: QueryComplaint | undefined;
  onChoose: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  return (
    <div id="search-complaint" role="alert" className={styles.complaint}>
      {complaint && (
        <>
          <span className={styles.sentence}>
            <bdi>{complaint.sentence}</bdi>
          </span>
          {complaint.offers.map(({ name, text }) => (
            <Button key={name} size="compact-xs" variant="light" onClick={() => onChoose(text)}>
              {t('takeOffer', { name: name.length > 60 ? `${name.slice(0, 60)}…` : name })}
            </Button>
          ))}
        </>
      )}
    </div>
  );
}

const completionsId = 'search-completions';
const completionId = (index: number) => `search-completion-${index}`;

/** What can stand at the caret, below it; arrows choose, Enter or Tab takes. */
function Completions({
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

type Piece = QueryPiece & { readonly start: number; readonly isBad: boolean };

/** The text behind the input, in its colours: the input's own is transparent. */
function PaintedQuery({
  ref,
  text,
  complaint,
}: {
  ref: Ref<HTMLDivElement>;
  text: string;
  complaint: QueryComplaint | undefined;
}) {
  return (
    <div ref={ref} className={styles.paint} aria-hidden="true">
      {markBad(text, complaint).map((piece) => (
        <span
          key={piece.start}
          className={`${piece.tone === 'plain' ? '' : styles[piece.tone]} ${piece.isBad ? styles.badText : ''}`}
        >
          {piece.text}
        </span>
      ))}
    </div>
  );
}

/** The pieces, cut where the bad part begins and ends. */
function markBad(text: string, complaint: QueryComplaint | undefined): Piece[] {
  const { start: from = 0, end: until = 0 } = complaint ?? {};
  const pieces: Piece[] = [];
  let at = 0;
  for (const { text: whole, tone } of paintQuery(text)) {
    const end = at + whole.length;
    const cuts = [at, ...[from, until].filter((cut) => cut > at && cut < end), end];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [start, stop] = [cuts[i] as number, cuts[i + 1] as number];
      const isBad = start >= from && stop <= until && until > from;
      pieces.push({ text: text.slice(start, stop), tone, start, isBad });
    }
    at = end;
  }
  return pieces;
}
