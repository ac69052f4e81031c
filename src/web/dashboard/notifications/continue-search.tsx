import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useChanges } from '../api/history.ts';
import type { HistoryPages } from '../api/history-pages.ts';
import { useFormats } from '../pieces/formats.ts';

/** How far back a search got before it ran out of time; undefined when it did not. */
export function useSearchedTo(pages: HistoryPages): string | undefined {
  const { t } = useTranslation('history');
  const formats = useFormats();
  useChanges(pages);
  if (pages.searchedTo === null) return undefined;
  return t('searchedTo', { time: formats.dateTime(pages.searchedTo) });
}

export function ContinueSearch({ pages }: { pages: HistoryPages }) {
  const { t } = useTranslation('history');
  useChanges(pages);
  return (
    <Button size="xs" loading={pages.isExtending} onClick={() => void pages.extend()}>
      {t('continueSearch')}
    </Button>
  );
}
