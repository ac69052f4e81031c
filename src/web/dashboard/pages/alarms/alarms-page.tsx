import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type AlarmList, mostAlarms } from '#web/dashboard/api/alarm-list.ts';
import { useAlarmList } from '#web/dashboard/api/alarms.ts';
import { useChanges } from '#web/dashboard/api/history.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { SkeletonRows } from '#web/dashboard/notifications/list-frame.tsx';
import { type Refinement, refine } from '#web/dashboard/query/query-words.ts';
import type { AlarmsSearch } from '#web/dashboard/search-params.ts';
import { ListPage, useSearchText, useShown } from '../history/list-page.tsx';
import { RuleFromSearch, useRuleFromSearch } from '../history/rule-from-search.tsx';
import { SavedSearches } from '../history/saved-searches.tsx';
import { ActionBar } from './action-bar.tsx';
import { AlarmQuestion } from './alarm-dialogs.tsx';
import { AlarmDrawer } from './alarm-drawer.tsx';
import { AlarmGrid } from './alarm-grid.tsx';
import { type ListLine, linesOf } from './alarm-groups.ts';
import styles from './alarms-page.module.css';
import { AlarmTabs, GroupingMenu } from './alarms-toolbar.tsx';
import { NothingWrong } from './nothing-wrong.tsx';
import { useAlarmActions } from './use-alarm-actions.tsx';
import { useAlarmKeys } from './use-alarm-keys.ts';
import { countIn, mainActions, useCommands } from './use-commands.ts';
import { useSelection } from './use-selection.ts';

const route = getRouteApi('/signed-in/t/$tenant/alarms');

/** What is wrong now: the alarms that have not ended, and what people do about them. */
export function AlarmsPage() {
  const { t } = useTranslation('alarms');
  const tenant = useTenant();
  const { q = '', tab = 'open', group: grouping = 'similar', id } = route.useSearch();
  const navigate = route.useNavigate();
  const leave = useNavigate();
  const { list, tail } = useAlarmList(q, tab);
  useChanges(list);
  const shown = useShown(list);
  const scroller = useRef<HTMLDivElement>(null);
  const focusList = () => scroller.current?.focus();
  const { lines, toggleGroup } = useLines(shown, grouping);
  const selection = useSelection(shown, lines);
  const active = useActiveLine(lines, id);
  const actions = useAlarmActions((isUndo) => {
    if (!isUndo) selection.end();
    void list.refresh();
  });

  const go = (change: Partial<Record<keyof AlarmsSearch, string | undefined>>, replace = false) =>
    void navigate({ search: (old) => ({ ...old, ...change }) as AlarmsSearch, replace });
  const search = useSearchText(q, list, {
    onChange: (next) => go({ q: next }),
    onAgain: () => void list.refresh(),
  });
  const onRefine = (refinement: Refinement) => go({ q: refine(q, refinement) || undefined });
  const move = (line: ListLine) => {
    active.set(line.key);
    if (id !== undefined && 'row' in line) go({ id: line.row.alarm.id }, true);
  };
  const open = (line: ListLine) => {
    active.set(line.key);
    if ('group' in line) toggleGroup(line.key);
    else go({ id: line.row.alarm.id }, id !== undefined);
  };
  const close = () => {
    go({ id: undefined });
    focusList();
  };
  const history = (to: { q?: string; id?: string }) =>
    void leave({ to: '/t/$tenant/history', params: { tenant: tenant.name }, search: to });
  const commands = useCommands({
    q,
    tab,
    counts: shown.counts,
    selection,
    line: lines[active.index],
    actions,
  });
  useAlarmKeys({
    lines,
    activeIndex: active.index,
    selection,
    commands,
    onRule: useRuleFromSearch(q),
    input: search.input,
    focusList,
    onMove: move,
    onClose: id === undefined ? undefined : close,
  });
  const matching = shown.counts ? countIn(tab, shown.counts) : 0;
  return (
    <>
      <ListPage
        title={t('alarms')}
        search={search}
        list={list}
        onRetry={() => void list.refresh()}
        onDown={focusList}
        tools={
          <>
            <GroupingMenu
              grouping={grouping}
              rows={shown.rows}
              onChoose={(chosen) => go({ group: chosen === 'similar' ? undefined : chosen }, true)}
            />
            <RuleFromSearch q={q} />
            <SavedSearches q={q} view={{ tab, group: grouping }} onSearch={search.run} />
          </>
        }
        above={<AlarmTabs list={list.isReady ? list : shown} tab={tab} tail={tail} />}
        below={
          selection.keys.size > 0 && (
            <ActionBar
              selection={selection}
              matching={matching}
              tab={tab}
              mayMute={tenant.may('admin')}
              commands={commands}
            />
          )
        }
        drawer={
          id !== undefined && (
            <AlarmDrawer
              key={id}
              id={id}
              alarm={shown.rows.find(({ alarm }) => alarm.id === id)?.alarm}
              actions={actions}
              onRefine={onRefine}
              onSearch={(text) => history({ q: text })}
              onShow={(other) => go({ id: other }, true)}
              onOpenNotification={(other) => history({ id: other })}
              onClose={close}
            />
          )
        }
      >
        {shown.isReady && shown.rows.length === 0 && shown.waiting === 0 ? (
          <NothingWrong q={q} tab={tab} onSearch={search.run} />
        ) : (
          <AlarmGrid
            scroller={scroller}
            list={shown}
            lines={lines}
            grouping={grouping}
            selection={selection}
            maySelect={actions.mayAct}
            activeIndex={active.index}
            isOld={shown !== list}
            onMove={move}
            onOpen={open}
            onRefine={onRefine}
            onShow={(shownId) => go({ id: shownId }, id !== undefined)}
            swipes={{ right: mainActions[tab], left: 'shelve' }}
            onSwipe={(line, way) => (way === 'right' ? commands.mainAction(line) : commands.shelve(line))}
          >
            {!shown.isReady && list.error === undefined && <SkeletonRows />}
            <NotLoaded list={shown} matching={matching} />
          </AlarmGrid>
        )}
      </ListPage>
      <AlarmQuestion actions={actions} />
    </>
  );
}

/** The lines of the list. Typing and keys come before a new order of thousands. */
function useLines(list: AlarmList, grouping: string) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useDeferredValue(list.rows);
  const look = useLevelLook();
  const lines = useMemo(
    () => linesOf(rows, grouping, open, (level) => look(level).word),
    [rows, grouping, open, look],
  );
  const toggleGroup = (key: string) => {
    const next = new Set(open);
    if (!next.delete(key)) next.add(key);
    setOpen(next);
  };
  return { lines, toggleGroup };
}

/**
 * The line that keys act on; when it is gone, what stands in its place. While an alarm is open that is not listed, there is
 * none: keys must not act on another one than is shown.
 */
function useActiveLine(lines: readonly ListLine[], id: string | undefined) {
  const [key, set] = useState<string>();
  const lastIndex = useRef(-1);
  const known = lines.findIndex((line) => line.key === key);
  const opened = lines.findIndex((line) => 'row' in line && line.row.alarm.id === id);
  const inItsPlace =
    key === undefined || id !== undefined ? -1 : Math.min(lastIndex.current, lines.length - 1);
  const index = known >= 0 ? known : opened >= 0 ? opened : inItsPlace;
  useEffect(() => {
    lastIndex.current = index;
  });
  return { index, set };
}

/** How many more there are than are loaded. */
function NotLoaded({ list, matching }: { list: AlarmList; matching: number }) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  if (!list.isReady) return null;
  if (list.isWhole) return null;
  if (list.rows.length < mostAlarms)
    return <p className={styles.more}>{t('readingMore', { ns: 'history' })}</p>;
  return (
    <p className={styles.more} role="status">
      {t('moreThanLoaded', { number: formats.number(Math.max(0, matching - list.rows.length)) })}
    </p>
  );
}
