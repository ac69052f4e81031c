import searchIcon from 'virtual:icon/search';
import { Button } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { HistoryNotification } from '#contract/history/notification.ts';
import { isStatus } from '#web/dashboard/api/call.ts';
import { useChanges, useHistoryPages, useLivePages } from '#web/dashboard/api/history.ts';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useKeysInHelp, useShortcuts } from '#web/dashboard/components/keyboard.ts';
import { EmptyState } from '#web/dashboard/components/notice.tsx';
import { LinkButton } from '#web/dashboard/components/page.tsx';
import {
  ContinueSearch,
  NotificationGrid,
  useSearchedTo,
} from '#web/dashboard/notifications/notification-grid.tsx';
import { type Refinement, refine } from '#web/dashboard/query/query-words.ts';
import { readTimeRange, spanRange, withTimeRange } from '#web/dashboard/query/time-range.ts';
import type { HistorySearch } from '#web/dashboard/search-params.ts';
import styles from './history-page.module.css';
import { HistoryToolbar } from './history-toolbar.tsx';
import { ListPage, useSearchText, useShown } from './list-page.tsx';
import { useRowActions } from './notification-actions.tsx';
import { NotificationDrawer } from './notification-drawer.tsx';
import { HistoryBars, ResultLine, useHistogram } from './result-line.tsx';
import { useMuteSearch, useRuleFromSearch } from './rule-from-search.tsx';

const route = getRouteApi('/signed-in/t/$tenant/history');

/** History: search it, refine the search by clicks, follow it live, open one notification. */
export function HistoryPage() {
  const { t } = useTranslation('history');
  const { q = '', id, live = false } = route.useSearch();
  const navigate = route.useNavigate();
  const pages = useHistoryPages(q);
  useChanges(pages);
  const shown = useShown(pages);
  const [lastActiveId, setActiveId] = useState(id);
  // Keys act on the open notification, however it was opened.
  const activeId = id ?? lastActiveId;
  const [asTable, setAsTable] = useState(false);
  const { timeZone } = useTenant();
  const scroller = useRef<HTMLDivElement>(null);
  const focusList = () => scroller.current?.focus();

  const go = useCallback(
    (change: Partial<Record<keyof HistorySearch, string | boolean | undefined>>, replace = false) =>
      void navigate({ search: (old) => ({ ...old, ...change }) as HistorySearch, replace }),
    [navigate],
  );
  const search = useSearchText(q, pages, {
    onChange: (next) => go({ q: next }),
    onAgain: () => void pages.start(),
  });
  const onRefine = useCallback(
    (refinement: Refinement) => go({ q: refine(q, refinement) || undefined }),
    [go, q],
  );
  const open = useCallback(
    (row: HistoryNotification) => {
      setActiveId(row.id);
      go({ id: row.id }, id !== undefined);
    },
    [go, id],
  );
  const move = (row: HistoryNotification) => {
    setActiveId(row.id);
    if (id !== undefined) go({ id: row.id }, true);
  };
  const close = () => {
    go({ id: undefined });
    focusList();
  };
  const active = activeId === undefined ? undefined : shown.row(shown.indexOf(activeId));
  const actions = useRowActions();
  useShortcuts({
    '/': () => search.input.current?.focus(),
    ArrowDown: () => {
      focusList();
      const first = shown.row(activeId === undefined ? 0 : shown.indexOf(activeId) + 1);
      if (first) move(first);
    },
    Escape: () => id !== undefined && close(),
    l: () => go({ live: live ? undefined : true }, true),
    c: () => active && void actions.clear(active),
    m: () => active && void actions.muteUntilMorning(active),
    M: useMuteSearch(q),
    e: () => active && actions.explain(active),
    r: useRuleFromSearch(q),
  });
  useHistoryKeysInHelp();
  const { histogram, isCounting } = useHistogram(q, pages);
  const tail = useLivePages(pages, q, live && !isStatus(pages.error, 400));
  return (
    <ListPage
      title={t('history')}
      search={search}
      list={pages}
      onRetry={() => void pages.start()}
      onDown={focusList}
      tools={
        <HistoryToolbar
          q={q}
          live={live}
          tail={tail}
          onLive={() => go({ live: live ? undefined : true }, true)}
          onSearch={search.run}
        />
      }
      above={
        <>
          <ResultLine
            q={q}
            pages={shown}
            isOld={shown !== pages}
            total={
              histogram && !isCounting
                ? { count: histogram.total, complete: histogram.searchedTo === null }
                : undefined
            }
            asTable={asTable}
            onTable={() => setAsTable((was) => !was)}
            onSearch={search.run}
          />
          <HistoryBars
            histogram={histogram}
            isOld={isCounting}
            asTable={asTable}
            onSelect={({ from, until }) => search.run(withTimeRange(q, spanRange(from, until, timeZone)))}
          />
        </>
      }
      below={<p className={styles.foot}>{t('keysHint')}</p>}
      drawer={
        id !== undefined && (
          <NotificationDrawer
            key={id}
            id={id}
            row={shown.row(shown.indexOf(id))}
            onClose={close}
            onRefine={onRefine}
            onOpen={(other) => {
              setActiveId(other);
              go({ id: other });
              focusList();
            }}
            onSearch={search.run}
            actions={actions}
          />
        )
      }
    >
      {shown.isReady && shown.count === 0 ? (
        <HistoryEmpty q={q} pages={shown} onSearch={search.run} />
      ) : (
        <NotificationGrid
          key={shown.key}
          scroller={scroller}
          label={t('history')}
          pages={shown}
          activeId={activeId}
          onOpen={open}
          onMove={move}
          onRefine={onRefine}
          isOld={shown !== pages}
        />
      )}
    </ListPage>
  );
}

function useHistoryKeysInHelp(): void {
  const { t } = useTranslation('history');
  useKeysInHelp(
    useMemo(
      () => ({
        page: t('history'),
        list: [
          ['/', t('keys.search')],
          ['↑ ↓', t('keys.move')],
          ['Enter', t('keys.open')],
          ['c', t('clear')],
          ['m', t('mute.host')],
          ['M', t('keys.muteThese')],
          ['e', t('explain')],
          ['r', t('ruleFromSearch')],
          ['l', t('liveHint')],
          ['Esc', t('close')],
        ],
      }),
      [t],
    ),
  );
}

/** For a search without results, and an empty history. */
function HistoryEmpty({
  q,
  pages,
  onSearch,
}: {
  q: string;
  pages: HistoryPages;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const searchedTo = useSearchedTo(pages);
  const { name } = useTenant();
  if (searchedTo !== undefined)
    return (
      <EmptyState icon={searchIcon} title={t('nothingFoundYet')} action={<ContinueSearch pages={pages} />}>
        <span role="status">{searchedTo}</span>
      </EmptyState>
    );
  if (q === '')
    return (
      <EmptyState
        title={t('nothingYet')}
        action={
          <LinkButton to="/t/$tenant/overview" params={{ tenant: name }}>
            {t('toOverview')}
          </LinkButton>
        }
      >
        {t('nothingYetHint')}
      </EmptyState>
    );
  const hasTime = Object.keys(readTimeRange(q)).length > 0;
  return (
    <EmptyState
      icon={searchIcon}
      title={t('nothingFound')}
      action={
        hasTime ? (
          <Button onClick={() => onSearch(withTimeRange(q, {}))}>{t('searchAllTime')}</Button>
        ) : (
          <Button onClick={() => onSearch('')}>{t('clearSearch')}</Button>
        )
      }
    >
      {hasTime ? t('nothingFoundInTime') : t('nothingFoundHint')}
    </EmptyState>
  );
}
