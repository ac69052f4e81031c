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
import { type Details, type WayBack, waysBack } from './ways-back.ts';

/** The alarms that are meant. */
export interface Target {
  readonly count: number;
  /** Those that are loaded. */
  readonly alarms: readonly Alarm[];
  /** All that match a search are meant. */
  readonly search?: { readonly q: string; readonly state: readonly StandingState[] };
}

/** What is asked before the request is sent. */
export interface Question {
  readonly kind: 'acknowledge' | 'note' | 'unacknowledge' | 'shelve' | 'unshelve' | 'assign' | 'clear';
  readonly target: Target;
}

/** Of alarms that are not loaded, it is not known how they were before. */
export const canUndo = ({ alarms, count }: Target): boolean => alarms.length >= count;
export const titleOf = ({ alarms: [first] }: Target): string => first?.title ?? '';

export interface AlarmActions {
  readonly mayAct: boolean;
  readonly question: Question | undefined;
  /** Opens the dialog; what is only taken back needs none, unless it cannot be undone. */
  ask(question: Question): void;
  endQuestion(): void;
  send(action: AlarmAction, target: Target, details?: Details): Promise<void>;
}

/** @param onDone called when the alarms were changed, or changed back. */
export function useAlarmActions(onDone: (isUndo: boolean) => void): AlarmActions {
  const { t } = useTranslation(['alarms', 'history']);
  const mayAct = useTenant().may('member');
  const formats = useFormats();
  const request = useAlarmRequest();
  const [question, setQuestion] = useState<Question>();

  /** Says what could not be changed, and returns the others. */
  const change = async (change: AlarmRequest, isUndo: boolean) => {
    try {
      const { done, failed } = await request(change);
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

  const undo = async (ways: readonly WayBack[]): Promise<void> => {
    const undone = new Set<string>();
    for (const { action, ids, details } of ways) {
      const { done, failed } = await change({ action, ids, ...details }, true);
      for (const id of done > 0 ? ids : []) if (!failed.some((each) => each.id === id)) undone.add(id);
    }
    const count = undone.size;
    if (count > 0) showToast({ message: t('undone', { count, number: formats.number(count) }) });
  };

  const send = async (action: AlarmAction, target: Target, details: Details = {}): Promise<void> => {
    setQuestion(undefined);
    const { alarms, search } = target;
    const meant = search ?? { ids: alarms.map(({ id }) => id) };
    const { done, failed } = await change({ action, ...meant, ...details }, false);
    if (done === 0) return;
    const message = t(details.userId === null ? 'done.assignNobody' : `done.${action}`, {
      count: done,
      number: formats.number(done),
      title: clip(titleOf(target), 80),
      time: formats.dateTime(details.untilMs ?? 0),
    });
    const changed = alarms.filter(({ id }) => !failed.some((each) => each.id === id));
    const back = canUndo(target) ? waysBack(action, changed, Date.now()) : [];
    if (back.length === 0) return void showToast({ message });
    showDone(message, { label: t('undo', { ns: 'history' }), onUndo: () => void undo(back) });
  };

  return {
    mayAct,
    question,
    send,
    endQuestion: () => setQuestion(undefined),
    ask(next) {
      if (!mayAct) return void showToast({ message: t('roleMayNot') });
      if (next.target.count === 0) return void showToast({ message: t('nothingChosen') });
      const { kind, target } = next;
      const isBack = kind === 'unacknowledge' || kind === 'unshelve';
      if (isBack && canUndo(target)) void send(kind, target);
      else setQuestion(next);
    },
  };
}
