/** What a person does with alarms: the question before it, the request, and the notice afterwards with its way back. */
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Alarm, AlarmAction } from '#contract/history/alarm.ts';
import type { StandingState } from '#contract/history/alarm-states.ts';
import { type AlarmRequest, useAlarmRequest } from '#web/dashboard/api/alarms.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { showDone, showFailure, showToast } from '#web/dashboard/components/notice.tsx';
import { clip } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';

/** The alarms that are meant. */
export interface Target {
  readonly count: number;
  readonly ids: readonly string[];
  /** Who takes care of each that is loaded. */
  readonly owners: readonly Alarm['owner'][];
  /** Of the first. */
  readonly title: string;
  /** All that match a search are meant; `ids` are those that are loaded. */
  readonly search?: { readonly q: string; readonly state: readonly StandingState[] };
}

/** What is asked before the request is sent. */
export interface Question {
  readonly kind: 'acknowledge' | 'note' | 'shelve' | 'assign' | 'clear';
  readonly target: Target;
  /** The note until now. */
  readonly note?: string;
}

type Details = Pick<AlarmRequest, 'note' | 'untilMs' | 'take' | 'userId'>;

export interface AlarmActions {
  readonly mayAct: boolean;
  readonly question: Question | undefined;
  /** Opens the dialog; clearing a single alarm needs none. */
  ask(question: Question): void;
  endQuestion(): void;
  send(action: AlarmAction, target: Target, details?: Details): Promise<void>;
}

/** The requests that undo an action. An owner before may differ from alarm to alarm. */
function waysBack(
  action: AlarmAction,
  { ids, owners }: Target,
): readonly { readonly action: AlarmAction; readonly ids: readonly string[]; readonly details: Details }[] {
  if (action === 'acknowledge') return [{ action: 'unacknowledge', ids, details: {} }];
  if (action === 'shelve') return [{ action: 'unshelve', ids, details: {} }];
  if (action !== 'assign') return [];
  const userIds = ids.map((_, i) => owners[i]?.id ?? null);
  return [...new Set(userIds)].map((userId) => ({
    action,
    ids: ids.filter((_, i) => userIds[i] === userId),
    details: { userId },
  }));
}

const withoutSearch = ({ search: _, ...target }: Target): Target => target;

/** @param onDone called when the alarms were changed, or changed back. */
export function useAlarmActions(onDone: (isUndo: boolean) => void): AlarmActions {
  const { t } = useTranslation(['alarms', 'history']);
  const mayAct = useTenant().may('member');
  const formats = useFormats();
  const request = useAlarmRequest();
  const [question, setQuestion] = useState<Question>();

  /** Says what could not be changed, and returns the others. */
  const change = async ({ ids, search }: Target, action: AlarmAction, details: Details, isUndo: boolean) => {
    try {
      const { done, failed } = await request({ action, ...(search ?? { ids }), ...details });
      onDone(isUndo);
      const [first] = failed;
      if (first)
        showFailure({
          title: t('notDone', { count: failed.length, number: formats.number(failed.length) }),
          message: sentenceOf(new Error(first.error)),
        });
      return { done, failed };
    } catch (error) {
      showFailure({ title: t('failed'), message: sentenceOf(error) });
      return { done: 0, failed: [] };
    }
  };

  const undo = async (target: Target, ways: ReturnType<typeof waysBack>): Promise<void> => {
    let count = 0;
    for (const { action, ids, details } of ways)
      if (ids.length > 0)
        count += (await change({ ...withoutSearch(target), ids }, action, details, true)).done;
    if (count > 0) showToast({ message: t('undone', { count, number: formats.number(count) }) });
  };

  const send = async (action: AlarmAction, target: Target, details: Details = {}): Promise<void> => {
    setQuestion(undefined);
    const { done, failed } = await change(target, action, details, false);
    if (done === 0) return;
    const message = t(details.userId === null ? 'done.assignNobody' : `done.${action}`, {
      count: done,
      number: formats.number(done),
      title: clip(target.title, 80),
      time: formats.dateTime(details.untilMs ?? 0),
    });
    const back = waysBack(action, target).map((way) => ({
      ...way,
      ids: way.ids.filter((id) => !failed.some((each) => each.id === id)),
    }));
    // Of alarms that are not loaded, the ids are not known.
    if (back.length === 0 || target.ids.length < target.count) return void showToast({ message });
    showDone(message, { label: t('undo', { ns: 'history' }), onUndo: () => void undo(target, back) });
  };

  return {
    mayAct,
    question,
    send,
    endQuestion: () => setQuestion(undefined),
    ask(next) {
      if (!mayAct) return void showToast({ message: t('roleMayNot') });
      if (next.target.count === 0) return void showToast({ message: t('nothingChosen') });
      if (next.kind === 'clear' && next.target.count === 1) void send('clear', next.target);
      else setQuestion(next);
    },
  };
}
