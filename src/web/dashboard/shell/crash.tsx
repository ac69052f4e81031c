import bugIcon from 'virtual:icon/bug';
import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { ApiError } from '#client/api-error.ts';
import { sentenceOf } from '../api/call.ts';
import { EmptyState, ErrorNotice } from '../pieces/notice.tsx';

/** What is shown when a page cannot be drawn: the server's sentence, or the admission of a fault of ours. */
export function Crash({ error, reset }: ErrorComponentProps) {
  const { t } = useTranslation();
  if (error instanceof ApiError) return <ErrorNotice error={error} onRetry={reset} />;
  return (
    <div role="alert">
      <EmptyState
        icon={bugIcon}
        title={t('crashed')}
        action={<Button onClick={() => location.reload()}>{t('reload')}</Button>}
      >
        <p>{t('crashedHint')}</p>
        <p className="mono">{sentenceOf(error)}</p>
      </EmptyState>
    </div>
  );
}
