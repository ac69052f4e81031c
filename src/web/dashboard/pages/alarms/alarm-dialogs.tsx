import { NativeSelect, Radio, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { membersQuery } from '#web/dashboard/api/queries.ts';
import { usePerson } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Confirm, Consequences, Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { DateTimeField } from '#web/dashboard/fields/time-fields.tsx';
import { clip } from '#web/dashboard/formats/formats.ts';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import {
  fromDateTimeField,
  nextMonday,
  nextMorning,
  toDateTimeField,
} from '#web/dashboard/formats/wall-clock.ts';
import { NoteDialog } from '../history/note-dialog.tsx';
import { type AlarmActions, canUndo, type Question, type Target, titleOf } from './use-alarm-actions.tsx';
import { lasting } from './ways-back.ts';

/** The open question, if there is one. */
export function AlarmQuestion({ actions }: { actions: AlarmActions }) {
  const { question } = actions;
  if (!question) return null;
  if (question.kind === 'shelve') return <ShelveDialog question={question} actions={actions} />;
  if (question.kind === 'assign') return <AssignDialog question={question} actions={actions} />;
  if (question.kind === 'clear') return <ClearQuestion question={question} actions={actions} />;
  if (question.kind === 'unacknowledge' || question.kind === 'unshelve')
    return <TakeBackQuestion question={question} kind={question.kind} actions={actions} />;
  return <AcknowledgeDialog question={question} actions={actions} />;
}

interface QuestionProps {
  readonly question: Question;
  readonly actions: AlarmActions;
}

/** The words of a title: how many alarms, or which one. */
function useSubject({ target }: Question) {
  const formats = useFormats();
  const { count } = target;
  return { count, number: formats.number(count), title: clip(titleOf(target), 60) };
}

/** What is said before, because no undo is offered afterwards. */
function NoUndo({ target }: { target: Target }) {
  const { t } = useTranslation('alarms');
  return canUndo(target) ? null : <p>{t('noUndo')}</p>;
}

const hourMs = 3_600_000;
const ends = {
  '1h': (now: number) => now + hourMs,
  '4h': (now: number) => now + 4 * hourMs,
  morning: nextMorning,
  monday: nextMonday,
} as const;
type End = keyof typeof ends;
const endNames = Object.keys(ends) as End[];

/** On a Sunday, the next morning is Monday's. */
const endsFrom = (now: number, timeZone: string): readonly End[] =>
  endNames.filter((name) => name !== 'monday' || ends.monday(now, timeZone) !== ends.morning(now, timeZone));

/** With a time of its own, an acknowledgement ends by itself. A note that is changed keeps the end, unless another one is chosen. */
function AcknowledgeDialog({ question: { kind, target }, question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const { timeZone } = useTenant();
  const formats = useFormats();
  const subject = useSubject(question);
  const [now] = useState(Date.now);
  const [end, setEnd] = useState<End | 'usual' | 'never'>('usual');
  const known = kind === 'note' ? target.alarms[0]?.acknowledged : undefined;
  const usual = known ? lasting(known.until) : {};
  const lasts =
    end === 'usual' ? usual : end === 'never' ? { forMs: 0 } : { untilMs: ends[end](now, timeZone) };
  return (
    <NoteDialog
      title={known ? t('noteTitle') : t('acknowledgeTitle', subject)}
      action={t(known ? 'changeNote' : 'short.acknowledge')}
      before={known?.note ?? ''}
      onClose={actions.endQuestion}
      onSubmit={(text) =>
        void actions.send('acknowledge', target, {
          ...lasts,
          ...(text !== '' && { note: text }),
          ...(known && { take: true }),
        })
      }
    >
      <NativeSelect
        label={t('acknowledgeEnd')}
        description={t('acknowledgeEndAbout')}
        value={end}
        onChange={({ currentTarget }) => setEnd(currentTarget.value as typeof end)}
        data={[
          { value: 'usual', label: t(known ? 'acknowledgeEnd.same' : 'acknowledgeEnd.usual') },
          ...endsFrom(now, timeZone).map((name) => ({
            value: name,
            label: t('acknowledgeEnd.at', {
              when: t(`shelf.${name}`),
              time: formats.dayTime(ends[name](now, timeZone)),
            }),
          })),
          { value: 'never', label: t('acknowledgeEnd.never') },
        ]}
      />
      <NoUndo target={target} />
    </NoteDialog>
  );
}

function ShelveDialog({ question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const { timeZone } = useTenant();
  const formats = useFormats();
  const subject = useSubject(question);
  const [now] = useState(Date.now);
  const [chosen, setChosen] = useState<End | 'own'>('1h');
  const [own, setOwn] = useState(() => toDateTimeField(nextMorning(now, timeZone), timeZone));
  const ownTime = fromDateTimeField(own, timeZone) ?? 0;
  const names = endsFrom(now, timeZone);
  const isPast = chosen === 'own' && ownTime <= Date.now();
  return (
    <NoteDialog
      title={t('shelveTitle', subject)}
      action={t('short.shelve')}
      hint={t('shelveNoteHint')}
      isDisabled={isPast}
      onClose={actions.endQuestion}
      onSubmit={(note) =>
        void actions.send('shelve', question.target, {
          untilMs: chosen === 'own' ? ownTime : ends[chosen](Date.now(), timeZone),
          ...(note !== '' && { note }),
        })
      }
    >
      <Radio.Group
        label={t('shelveUntil')}
        description={t('shelveAbout')}
        value={chosen}
        onChange={(value) => setChosen(value as End | 'own')}
      >
        <Stack gap={8} mt={4}>
          {names.map((name) => (
            <Radio
              key={name}
              value={name}
              label={t(`shelf.${name}`)}
              description={formats.dateTime(ends[name](now, timeZone))}
              data-autofocus={name === '1h' || undefined}
            />
          ))}
          <Radio value="own" label={t('shelf.own')} />
        </Stack>
      </Radio.Group>
      {chosen === 'own' && (
        <DateTimeField
          label={t('until')}
          description={timeZone}
          value={own}
          onChange={setOwn}
          error={own !== '' && isPast && t('shelfPast')}
        />
      )}
      <NoUndo target={question.target} />
    </NoteDialog>
  );
}

const nobody = '';

/** The owner that all of them have; undefined: none, or not the same. */
function ownerOf(target: Target) {
  const [first, ...others] = target.alarms.map(({ owner }) => owner);
  return first && canUndo(target) && others.every((each) => each?.id === first.id) ? first : undefined;
}

/** Asks who takes care of it. */
function AssignDialog({ question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const subject = useSubject(question);
  const me = usePerson();
  const members = useQuery(membersQuery(useTenant()));
  const others = (members.data ?? [])
    .filter(({ id }) => id !== me.id)
    .map(({ id, name, email }) => ({ value: id, label: name || email }));
  const owner = ownerOf(question.target);
  // One who has left the tenant.
  if (owner && owner.id !== me.id && !others.some(({ value }) => value === owner.id))
    others.push({ value: owner.id, label: owner.name });
  const [chosen, setChosen] = useState(owner?.id ?? me.id);
  return (
    <Dialog onClose={actions.endQuestion} title={t('assignTitle', subject)}>
      <DialogForm
        action={t('short.assign')}
        request={{ error: members.error, isPending: false }}
        isDisabled={members.isPending}
        onSubmit={() =>
          void actions.send('assign', question.target, { userId: chosen === nobody ? null : chosen })
        }
        onClose={actions.endQuestion}
      >
        <NativeSelect
          label={t('owner')}
          description={t('assignAbout')}
          value={chosen}
          onChange={({ currentTarget }) => setChosen(currentTarget.value)}
          data={[
            { value: me.id, label: t('assignMe', { name: me.name }) },
            ...others,
            { value: nobody, label: t('assignNobody') },
          ]}
          data-autofocus
        />
        <NoUndo target={question.target} />
      </DialogForm>
    </Dialog>
  );
}

function ClearQuestion({ question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const subject = useSubject(question);
  return (
    <NoteDialog
      title={t('clearTitle', subject)}
      action={t('short.clear')}
      hint={t('clearNoteHint')}
      isDangerous
      onClose={actions.endQuestion}
      onSubmit={(note) => void actions.send('clear', question.target, note === '' ? {} : { note })}
    >
      <Consequences>
        <li>{t('clearAbout', subject)}</li>
        <li>{t('clearNote')}</li>
      </Consequences>
    </NoteDialog>
  );
}

/** Only for more alarms than are loaded: for others it can be undone. */
function TakeBackQuestion({
  question,
  kind,
  actions,
}: QuestionProps & { kind: 'unacknowledge' | 'unshelve' }) {
  const { t } = useTranslation('alarms');
  const { target } = question;
  return (
    <Confirm
      title={t(`${kind}Title`, useSubject(question))}
      action={t(`short.${kind}`)}
      onClose={actions.endQuestion}
      onConfirm={() => actions.send(kind, target)}
    >
      <NoUndo target={target} />
    </Confirm>
  );
}
