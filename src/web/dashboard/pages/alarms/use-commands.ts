import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Alarm, AlarmAction } from '#contract/history/alarm.ts';
import type { StandingState } from '#contract/history/alarm-states.ts';
import type { AlarmRow } from '#web/dashboard/api/alarm-list.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { showToast } from '#web/dashboard/components/notice.tsx';
import { type Ranks, whenTheseAlarms } from '#web/dashboard/query/mute-when.ts';
import { whenOfSearch } from '#web/dashboard/query/search-when.ts';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
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

/** What is done first with alarms in a state. */
export const mainActions = {
  open: 'acknowledge',
  acknowledged: 'unacknowledge',
  shelved: 'unshelve',
  suppressed: 'assign',
} as const satisfies Record<StandingState, AlarmAction>;

/** The commands for the selected alarms; without a selection, for the active line. */
export function useCommands({
  q,
  state,
  counts,
  selection,
  line: activeLine,
  actions,
}: {
  q: string;
  state: StandingState;
  counts: Readonly<Record<StandingState, number>> | undefined;
  selection: Selection;
  line: ListLine | undefined;
  actions: AlarmActions;
}): Commands {
  const { t } = useTranslation('alarms');
  const { name, may } = useTenant();
  const navigate = useNavigate();
  const levels = useLevels();
  const rows = selection.keys.size > 0 ? selection.rows : activeLine ? rowsOf(activeLine) : [];
  const target: Target = {
    ...targetOf(rows),
    ...(selection.isAll && { count: counts?.[state] ?? rows.length, search: { q, state: [state] } }),
  };
  const isSuppressed = state === 'suppressed' && actions.mayAct && target.count > 0;
  return {
    acknowledge: () => {
      if (isSuppressed) return void showToast({ message: t('mayNotAcknowledge') });
      actions.ask({ kind: 'acknowledge', target });
    },
    mainAction: (line) => {
      const meant = targetOf(rowsOf(line));
      if (state === 'suppressed') actions.ask({ kind: 'assign', target: meant });
      else void actions.send(mainActions[state], meant);
    },
    takeBack: () => {
      if (isSuppressed) return void showToast({ message: t('mayNotAcknowledge') });
      actions.ask({ kind: state === 'shelved' ? 'unshelve' : 'unacknowledge', target });
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
