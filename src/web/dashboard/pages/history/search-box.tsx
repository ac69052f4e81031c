import searchIcon from 'virtual:icon/search';
import clearIcon from 'virtual:icon/x';
import { ActionIcon, Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import {
  type ChangeEvent,
  type CSSProperties,
  type FormEvent,
  type KeyboardEvent,
  type Ref,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { useTranslation } from 'react-i18next';
import { type SearchKey, searchKeys, valueKeys } from '#contract/history/fields.ts';
import { limits } from '#contract/limits.ts';
import { fieldValuesQuery, useLevels } from '#web/dashboard/api/queries.ts';
import { type Tenant, useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { toDateTimeField } from '#web/dashboard/formats/wall-clock.ts';
import {
  type CompletionRequest,
  complete,
  completionAt,
  matchingValues,
  states,
} from '#web/dashboard/query/completion.ts';
import { type QueryError, type QueryPiece, tokenizeQuery } from '#web/dashboard/query/query-words.ts';
import { quickRanges } from '#web/dashboard/query/time-range.ts';
import styles from './search-box.module.css';

interface SearchBoxProps extends Completing {
  /** Runs this search, or the draft. */
  readonly onSearch: (text?: string) => void;
  readonly error: QueryError | undefined;
  /** The draft differs from the search that is shown. */
  readonly isChanged: boolean;
}

/** The search field, with highlighting, completion, and the error at its place. */
export function SearchBox(props: SearchBoxProps) {
  const { input, draft, onDraft, onSearch, error, isChanged } = props;
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
        <div className={`${styles.box} ${error ? styles.bad : ''}`}>
          <Icon paths={searchIcon} size={16} />
          <div className={styles.field}>
            <HighlightedQuery ref={paint} text={draft} error={error} />
            <input
              ref={input}
              className={styles.input}
              type="text"
              role="combobox"
              value={draft}
              maxLength={limits.queryChars * 2}
              placeholder={t('searchPlaceholder')}
              aria-label={t('search')}
              aria-invalid={error !== undefined}
              aria-describedby="search-error"
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
        <SearchError
          error={error}
          searched={draft}
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

/** The server's error, and its suggestions. */
function SearchError({
  error,
  searched,
  onChoose,
}: {
  error: QueryError | undefined;
  searched: string;
  onChoose: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const word = searched.slice(error?.start, error?.end).replaceAll('"', '');
  const sentence = error?.unknown
    ? t(error.unknown === 'key' ? 'unknownKey' : 'unknownValue', { word })
    : error?.sentence;
  return (
    <div id="search-error" role="alert" className={styles.error}>
      {error && (
        <>
          <span className={styles.sentence}>
            <bdi>{sentence}</bdi>
          </span>
          {error.suggestions.map(({ name, text }) => (
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

/** Suggestions below the caret; arrows choose, Enter or Tab accepts. */
function Completions({
  ask,
  choices,
  active,
  onChoose,
}: {
  ask: CompletionRequest;
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

/** The highlighted text behind the input, whose own text is transparent. */
function HighlightedQuery({
  ref,
  text,
  error,
}: {
  ref: Ref<HTMLDivElement>;
  text: string;
  error: QueryError | undefined;
}) {
  return (
    <div ref={ref} className={styles.paint} aria-hidden="true">
      {markBad(text, error).map((piece) => (
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

/** The pieces, cut where the error begins and ends. */
function markBad(text: string, error: QueryError | undefined): Piece[] {
  const { start: from = 0, end: until = 0 } = error ?? {};
  const pieces: Piece[] = [];
  let at = 0;
  for (const { text: whole, tone } of tokenizeQuery(text)) {
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

interface Completing {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly draft: string;
  readonly onDraft: (text: string) => void;
  /** Moves to the rows. */
  readonly onDown: () => void;
}

/** The keys of the search field, with and without suggestions. */
function useCompleting(
  { input, draft, onDraft, onDown }: Completing,
  onMoved: () => void,
): {
  readonly ask: CompletionRequest | undefined;
  readonly choices: readonly string[];
  readonly active: number;
  readonly take: (choice: string) => void;
  readonly close: () => void;
  readonly field: object;
} {
  /** The caret; undefined while nothing is suggested. */
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(-1);
  const wanted = useRef<number>(undefined);
  const ask = caret === undefined ? undefined : offeredCompletion(draft, completionAt(draft, caret));
  const choices = useCompletions(ask);
  useLayoutEffect(() => {
    if (wanted.current !== undefined) input.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
    onMoved();
  });
  const close = () => {
    setCaret(undefined);
    setActive(-1);
  };
  const take = (choice: string) => {
    if (!ask) return;
    const done = complete(draft, ask, choice);
    wanted.current = done.caret;
    onDraft(done.text);
    setActive(-1);
    // After a key, or the name of a label, its values are suggested.
    setCaret(done.isOpen ? done.caret : undefined);
  };
  const isOpen = ask !== undefined && choices.length > 0;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    const chosen = choices[active];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === ' ' && event.ctrlKey) {
      event.preventDefault();
      setCaret(event.currentTarget.selectionStart ?? draft.length);
    } else if (isOpen && step !== undefined) {
      event.preventDefault();
      setActive((active + step + choices.length + (active < 0 && step < 0 ? 1 : 0)) % choices.length);
    } else if (isOpen && chosen !== undefined && (event.key === 'Enter' || event.key === 'Tab')) {
      event.preventDefault();
      take(chosen);
    } else if (event.key === 'ArrowDown') {
      event.preventDefault();
      onDown();
    } else if (event.key === 'Escape') {
      if (isOpen) close();
      else input.current?.blur();
    }
  };
  return {
    ask: isOpen ? ask : undefined,
    choices,
    active,
    take,
    close,
    field: {
      onKeyDown,
      onBlur: close,
      onChange: (event: ChangeEvent<HTMLInputElement>) => {
        onDraft(event.currentTarget.value);
        setCaret(event.currentTarget.selectionStart ?? undefined);
        setActive(-1);
      },
      onFocus: () => draft === '' && setCaret(0),
      onSelect: onMoved,
    },
  };
}

/** Nothing is suggested between words; in an empty search the keys are. */
function offeredCompletion(text: string, ask: CompletionRequest | undefined): CompletionRequest | undefined {
  if (ask?.key !== undefined || ask?.prefix !== '' || text === '') return ask;
  return undefined;
}

const most = 10;
const settleMs = 120;

/** Suggestions at the caret, the likeliest first. */
function useCompletions(ask: CompletionRequest | undefined): readonly string[] {
  const tenant = useTenant();
  const levels = useLevels();
  const key = ask?.key;
  const asked = valueKeys.find((each) => each === key);
  const [prefix] = useDebouncedValue(ask?.prefix ?? '', settleMs);
  const { data } = useQuery({
    ...fieldValuesQuery(tenant, asked ?? 'host', prefix.slice(0, 255)),
    enabled: asked !== undefined,
    // Values of another key must not be shown.
    placeholderData: (previous, query) => (query?.queryKey.at(-2) === key ? previous : undefined),
  });
  if (!ask) return [];
  if (key === undefined) return matchingValues(searchKeys, ask.prefix, searchKeys.length);
  if (asked) return matchingValues(data ?? [], ask.prefix, most);
  if (key === 'level') return matchingValues(levelChoices([...levels.values()], ask), ask.prefix, most * 2);
  return matchingValues(fixed(key, tenant), ask.prefix, most);
}

function levelChoices(
  levels: readonly { readonly name: string; readonly rank: number }[],
  { operator, prefix }: CompletionRequest,
): string[] {
  const names = levels.toSorted((a, b) => b.rank - a.rank).map(({ name }) => name);
  if (operator !== '' || prefix !== '') return names;
  return [...names, ...names.slice(1, -1).map((name) => `>=${name}`)];
}

function fixed(key: SearchKey, { timeZone }: Tenant): readonly string[] {
  if (key === 'is') return states;
  if (key === 'since') return quickRanges;
  const day = (ago: number) => toDateTimeField(Date.now() - ago * 86_400_000, timeZone);
  return [...[0, 1, 7].map((ago) => day(ago).slice(0, 10)), `${day(0).slice(0, 13)}:00`];
}
