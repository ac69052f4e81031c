import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { PageHeading } from '#web/dashboard/components/page.tsx';
import { type QueryError, readQueryError } from '#web/dashboard/query/query-words.ts';
import styles from './list-page.module.css';
import { SearchBox } from './search-box.tsx';

/** A list that a search fills. */
interface SearchedList {
  readonly isReady: boolean;
  readonly error: unknown;
}

export interface SearchText {
  readonly input: RefObject<HTMLInputElement | null>;
  readonly draft: string;
  setDraft(text: string): void;
  /** Runs the draft or another text. */
  run(text?: string): void;
  readonly isChanged: boolean;
  /** What the server says about the search that was run. */
  readonly error: QueryError | undefined;
}

/** The text in the search box, until it is run. @param onAgain the same search is run once more. */
export function useSearchText(
  q: string,
  list: SearchedList,
  { onChange, onAgain }: { onChange: (q: string | undefined) => void; onAgain: () => void },
): SearchText {
  const input = useRef<HTMLInputElement>(null);
  const [draft, setDraft] = useState(q);
  useEffect(() => setDraft(q), [q]);
  return {
    input,
    draft,
    setDraft,
    run(text = draft) {
      const trimmed = text.trim();
      setDraft(trimmed);
      if (trimmed === q) onAgain();
      else onChange(trimmed || undefined);
    },
    isChanged: draft.trim() !== q,
    error: list.error === undefined || draft !== q ? undefined : readQueryError(list.error, q),
  };
}

/** The list to show: the previous one stays until the new search has answered. */
export function useShown<List extends SearchedList>(list: List): List {
  const before = useRef(list);
  if (list.isReady) before.current = list;
  return before.current.isReady ? before.current : list;
}

/** A page with a search, the list that it finds, and beside it what is open. */
export function ListPage({
  title,
  search,
  list,
  onRetry,
  onDown,
  tools,
  above,
  children,
  below,
  drawer,
}: {
  title: string;
  search: SearchText;
  list: SearchedList;
  onRetry: () => void;
  /** The down arrow in the search box leads to the list. */
  onDown: () => void;
  /** Beside the search. */
  tools: ReactNode;
  above: ReactNode;
  children: ReactNode;
  below: ReactNode;
  /** What is open, if anything is. */
  drawer: ReactNode;
}) {
  return (
    <div className={styles.page} data-open={Boolean(drawer)}>
      <div className={styles.list}>
        <PageHeading title={title} className="hidden" />
        <div className={styles.top}>
          <SearchBox
            input={search.input}
            draft={search.draft}
            onDraft={search.setDraft}
            onSearch={search.run}
            error={search.error}
            isChanged={search.isChanged}
            onDown={onDown}
          />
          <div className={styles.tools}>{tools}</div>
        </div>
        {above}
        {list.error !== undefined && !list.isReady && search.error === undefined && (
          <div className={styles.error}>
            <ErrorNotice error={list.error} onRetry={onRetry} />
          </div>
        )}
        <div className={styles.grid}>{children}</div>
        {below}
      </div>
      {drawer}
    </div>
  );
}
