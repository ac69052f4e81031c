import clearIcon from 'virtual:icon/bell-x';
import downloadIcon from 'virtual:icon/download';
import pauseIcon from 'virtual:icon/player-pause';
import playIcon from 'virtual:icon/player-play';
import { Button, Menu } from '@mantine/core';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isCode } from '#client/call.ts';
import type { HistoryPage } from '#contract/history/notification.ts';
import type { TailState } from '#web/dashboard/api/event-stream.ts';
import { type Tenant, useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Dialog, DialogForm, NewContent } from '#web/dashboard/components/layers.tsx';
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

/** Clears up to 200 of what a search finds on panels, after a question. */
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

/** As many as one page of history has. */
const most = 200;
/** Requests at a time. */
const atOnce = 4;

function Question({ q, onClose }: { q: string; onClose: () => void }) {
  const { t } = useTranslation('history');
  const formats = useFormats();
  const tenant = useTenant();
  const found = useFound(tenant, q);
  const ids = idsOf(found.data?.pages ?? []).slice(0, most);
  const searchedTo = found.data?.pages.at(-1)?.searchedTo ?? null;
  const isPartial = searchedTo !== null && found.hasNextPage;
  const clear = useMutation({
    mutationFn: () => clearAll(tenant, ids),
    onSuccess() {
      showToast({ message: t('clearedFound', { count: ids.length }) });
      onClose();
    },
    onSettled() {
      for (const pages of tenant.lists.values()) void pages.refresh();
    },
  });
  const title = !found.data
    ? t('loading')
    : ids.length === 0
      ? t(isPartial ? 'clearFoundNoneYet' : 'clearFoundNone')
      : t('clearFoundTitle', { count: ids.length });
  return (
    <Dialog onClose={onClose} title={title}>
      <DialogForm
        action={t('clear')}
        request={found.error ? found : clear}
        isDangerous
        isDisabled={ids.length === 0 || found.isFetchingNextPage}
        onSubmit={() => clear.mutate()}
        onClose={onClose}
      >
        <div>
          <p>{t('clearFoundAbout')}</p>
          {!isPartial && (
            <End isContinued={(found.data?.pages.length ?? 0) > 1} isFull={ids.length === most} />
          )}
          {isPartial && (
            <>
              <p role="status">{t('searchedTo', { time: formats.dateTime(searchedTo) })}</p>
              <Button
                size="xs"
                loading={found.isFetchingNextPage}
                disabled={clear.isPending}
                onClick={() => void found.fetchNextPage()}
              >
                {t('continueSearch')}
              </Button>
            </>
          )}
        </div>
      </DialogForm>
    </Dialog>
  );
}

/** What is behind what was found. It has the focus if the button that continued the search is gone. */
function End({ isContinued, isFull }: { isContinued: boolean; isFull: boolean }) {
  const { t } = useTranslation('history');
  const text = isFull ? t('clearFoundMore', { count: most }) : isContinued && t('allShown');
  return isContinued ? <NewContent>{text}</NewContent> : text && <p>{text}</p>;
}

const idsOf = (pages: readonly HistoryPage[]) =>
  pages.flatMap(({ notifications }) => notifications.map(({ id }) => id));

/** A page whose search ran out of time has fewer than it may: the next one continues the search, and may bring more than are cleared. */
function useFound(tenant: Tenant, q: string) {
  return useInfiniteQuery({
    queryKey: [...tenant.key, 'live', q],
    queryFn: ({ pageParam: cursor, signal }) =>
      tenant.api.get<HistoryPage>(
        '/api/history',
        { q: q.trim() === '' ? 'is:live' : `(${q}) is:live`, limit: most, cursor },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last, pages) => (idsOf(pages).length < most ? last.nextCursor : null),
    // What the person was asked about is what is cleared.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** One that history has deleted meanwhile is off the panels, too. */
async function clearAll({ api }: Tenant, ids: readonly string[]): Promise<void> {
  const waiting = [...ids];
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
      await api.post(`/api/notifications/${encodeURIComponent(id)}/clear`).catch((error: unknown) => {
        if (!isCode(error, 'not-found')) throw error;
      });
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}
