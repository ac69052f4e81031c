import clearIcon from 'virtual:icon/bell-x';
import downloadIcon from 'virtual:icon/download';
import pauseIcon from 'virtual:icon/player-pause';
import playIcon from 'virtual:icon/player-play';
import { Button, Menu } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { foundStandingQuery, useAlarmRequest } from '#web/dashboard/api/alarms.ts';
import type { TailState } from '#web/dashboard/api/event-stream.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { showToast } from '#web/dashboard/components/notice.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './history-toolbar.module.css';
import page from './list-page.module.css';
import { MuteSearch, RuleFromSearch } from './rule-from-search.tsx';
import { SavedSearches } from './saved-searches.tsx';

/** Buttons beside the search: follow live, saved searches, export. */
export function HistoryToolbar({
  q,
  live,
  tail,
  onLive,
  onSearch,
}: {
  q: string;
  live: boolean;
  tail: TailState;
  onLive: () => void;
  onSearch: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  const { api, may } = useTenant();
  return (
    <>
      <Button
        className={page.tool ?? ''}
        variant={live ? 'light' : 'default'}
        aria-pressed={live}
        leftSection={
          live && tail === 'live' ? (
            <span className={styles.pulse} aria-hidden="true" />
          ) : (
            <Icon paths={live ? pauseIcon : playIcon} />
          )
        }
        onClick={onLive}
        title={live ? `${t('live')}: ${t(`tail.${tail}`)}` : t('liveHint')}
      >
        {t('live')}
        {live && <span className="hidden">: {t(`tail.${tail}`)}</span>}
      </Button>
      {may('member') && <ClearFound q={q} />}
      <MuteSearch q={q} />
      <RuleFromSearch q={q} />
      <SavedSearches q={q} onSearch={onSearch} />
      <Menu width={220}>
        <Menu.Target>
          <Button className={page.tool ?? ''} aria-label={t('export')} title={t('export')}>
            <Icon paths={downloadIcon} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t('exportAll')}</Menu.Label>
          {(['csv', 'ndjson'] as const).map((format) => (
            <Menu.Item
              key={format}
              component="a"
              href={api.link('/api/history/export', { q: q || undefined, format })}
              download={`belfry-history.${format}`}
            >
              {t(`export.${format}`)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** Clears what a search finds and what has not ended, after a question. */
function ClearFound({ q }: { q: string }) {
  const { t } = useTranslation('history');
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        className={page.tool ?? ''}
        aria-label={t('clearFound')}
        title={t('clearFound')}
        onClick={() => setOpen(true)}
      >
        <Icon paths={clearIcon} />
      </Button>
      {isOpen && <Question q={q} onClose={() => setOpen(false)} />}
    </>
  );
}

function Question({ q, onClose }: { q: string; onClose: () => void }) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const tenant = useTenant();
  const request = useAlarmRequest();
  const found = useQuery(foundStandingQuery(tenant, q));
  const { ids, mayBeMore } = found.data ?? { ids: [], mayBeMore: false };
  const count = ids.length;
  const clear = useMutation({
    mutationFn: () => request({ action: 'clear', ids }),
    onSuccess({ done }) {
      showToast({ message: t('clearedFound', { count: done, number: formats.number(done) }) });
      onClose();
    },
  });
  const title =
    found.data === undefined
      ? t('loading')
      : t(count === 0 ? 'clearFoundNone' : 'clearFoundTitle', { count, number: formats.number(count) });
  return (
    <Dialog onClose={onClose} title={title}>
      <DialogForm
        action={t('clear')}
        request={found.error ? found : clear}
        isDangerous
        isDisabled={count === 0}
        onSubmit={() => clear.mutate()}
        onClose={onClose}
      >
        <div>
          <p>{t('clearFoundAbout')}</p>
          {mayBeMore && <p>{t('clearFoundMore', { number: formats.number(count) })}</p>}
        </div>
      </DialogForm>
    </Dialog>
  );
}
