import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Alarm, AlarmAction } from '#contract/history/alarm.ts';
import type { AlarmsTab, StandingState } from '#contract/history/alarm-states.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { showToast } from '#web/dashboard/components/notice.tsx';
import { type Ranks, whenTheseAlarms } from '#web/dashboard/query/mute-when.ts';
import { whenOfSearch } from '#web/dashboard/query/search-when.ts';
import { type RulesSearch, statesOf } from '#web/dashboard/search-params.ts';
import { type ListLine, rowsOf } from './alarm-groups.ts';
import type { AlarmActions, Target } from './use-alarm-actions.tsx';
import type { Selection } from './use-selection.ts';

/** What can be done with alarms; each also has a key. */
export interface AlarmCommands {
  acknowledge(): void;
  takeBack(): void;
  shelve(): void;
  assign(): void;
  clear(): void;
  mute(): void;
}

/** As buttons and keys call them, or for one line that a finger pushed. */
export interface Commands extends AlarmCommands {
  shelve(line?: ListLine): void;
  /** At once, without a note; assigning asks to whom. */
  mainAction(line: ListLine): void;
}

/** What is done first with alarms of a tab. */
export const mainActions = {
  open: 'acknowledge',
  active: 'acknowledge',
  acknowledged: 'unacknowledge',
  shelved: 'unshelve',
  suppressed: 'assign',
} as const satisfies Record<AlarmsTab, AlarmAction>;

type Counts = Readonly<Record<StandingState, number>>;

/** How many alarms a tab has. */
export const countIn = (tab: AlarmsTab, counts: Counts): number =>
  statesOf(tab).reduce((sum, state) => sum + counts[state], 0);

/** The commands for the selected alarms; without a selection, for the active line. */
export function useCommands({
  q,
  tab,
  counts,
  selection,
  line: activeLine,
  actions,
}: {
  q: string;
  tab: AlarmsTab;
  counts: Counts | undefined;
  selection: Selection;
  line: ListLine | undefined;
  actions: AlarmActions;
}): Commands {
  const { t } = useTranslation('alarms');
  const { name, may } = useTenant();
  const navigate = useNavigate();
  const levels = useLevels();
  const rows = selection.keys.size > 0 ? selection.rows : activeLine ? rowsOf(activeLine) : [];
  const targetIn = (meant: AlarmsTab): Target => {
    const inState = targetOf(rows.filter(({ alarm }) => meant === tab || alarm.state === meant));
    if (!selection.isAll || !counts) return inState;
    return { ...inState, count: countIn(meant, counts), search: { q, state: statesOf(meant) } };
  };
  const target = targetIn(tab);
  // Of several states, those that it changes.
  const open = tab === 'active' ? targetIn('open') : target;
  const acknowledged = tab === 'active' ? targetIn('acknowledged') : target;
  const askOrSay = (
    kind: 'acknowledge' | 'unacknowledge',
    meant: Target,
    none: 'noneOpen' | 'noneAcknowledged',
  ) => {
    const isNone = actions.mayAct && meant.count === 0 && target.count > 0;
    if (isNone) showToast({ message: t(none) });
    else actions.ask({ kind, target: meant });
  };
  const isSuppressed = tab === 'suppressed' && actions.mayAct && target.count > 0;
  return {
    acknowledge: () => {
      if (isSuppressed) return void showToast({ message: t('mayNotAcknowledge') });
      askOrSay('acknowledge', open, 'noneOpen');
    },
    mainAction: (line) => {
      // What somebody has acknowledged keeps its note and its time.
      const meant = targetOf(rowsOf(line).filter(({ alarm }) => tab !== 'active' || alarm.state === 'open'));
      if (meant.count === 0) showToast({ message: t('noneOpen') });
      else if (tab === 'suppressed') actions.ask({ kind: 'assign', target: meant });
      else void actions.send(mainActions[tab], meant);
    },
    takeBack: () => {
      if (isSuppressed) return void showToast({ message: t('mayNotAcknowledge') });
      if (tab === 'shelved') actions.ask({ kind: 'unshelve', target });
      else askOrSay('unacknowledge', acknowledged, 'noneAcknowledged');
    },
    shelve: (line) => actions.ask({ kind: 'shelve', target: line ? targetOf(rowsOf(line)) : target }),
    assign: () => actions.ask({ kind: 'assign', target }),
    clear: () => actions.ask({ kind: 'clear', target }),
    mute: () => {
      if (!may('admin')) return void showToast({ message: t('mayNotMute', { ns: 'history' }) });
      const alarms = rows.map(({ alarm }) => alarm);
      const isSearch = selection.isAll || alarms.length === 0;
      const says = isSearch && Object.keys(whenOfSearch(q, levels).when).length > 0;
      const search = says ? { muteSearch: q } : muteOf(alarms, levels);
      if (!search) return void showToast({ message: t('nothingToMute') });
      void navigate({ to: '/t/$tenant/rules', params: { tenant: name }, search });
    },
  };
}

/** The address of a rule that mutes them. */
function muteOf(alarms: readonly Alarm[], levels: Ranks): RulesSearch | undefined {
  const found = whenTheseAlarms(alarms, levels);
  if (!found) return undefined;
  return { muteWhen: found.when, ...(found.leftOut > 0 && { leftOut: String(found.leftOut) }) };
}

/** Alarms that have ended meanwhile are not meant. */
function targetOf(rows: readonly AlarmRow[]): Target {
  const alarms = rows.map(({ alarm }) => alarm).filter(({ state }) => state !== 'ended');
  return { count: alarms.length, alarms };
}
