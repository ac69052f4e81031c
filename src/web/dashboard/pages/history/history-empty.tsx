import searchIcon from 'virtual:icon/search';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { HistoryPages } from '#web/dashboard/api/history-pages.ts';
import { ContinueSearch, useSearchedTo } from '#web/dashboard/notifications/continue-search.tsx';
import { EmptyState } from '#web/dashboard/pieces/notice.tsx';
import { readTimeRange, withTimeRange } from '#web/dashboard/query/time-range.ts';

/** Nothing was found, or nothing ever came: what to do about it. */
export function HistoryEmpty({
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
  if (searchedTo !== undefined)
    return (
      <EmptyState icon={searchIcon} title={t('nothingFoundYet')} action={<ContinueSearch pages={pages} />}>
        <span role="status">{searchedTo}</span>
      </EmptyState>
    );
  if (q === '') return <EmptyState title={t('nothingYet')}>{t('nothingYetHint')}</EmptyState>;
  const hasTime = Object.keys(readTimeRange(q)).length > 0;
  return (
    <EmptyState
      icon={searchIcon}
      title={t('nothingFound')}
      action={
        hasTime ? (
          <Button onClick={() => onSearch(withTimeRange(q, {}))}>{t('searchAllTime')}</Button>
        ) : (
          <Button onClick={() => onSearch('')}>{t('showAll')}</Button>
        )
      }
    >
      {hasTime ? t('nothingFoundInTime') : t('nothingFoundHint')}
    </EmptyState>
  );
}
