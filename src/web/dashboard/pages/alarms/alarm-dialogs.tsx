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
import type { AlarmActions, Question, Target } from './use-alarm-actions.tsx';

/** The open question, if there is one. */
export function AlarmQuestion({ actions }: { actions: AlarmActions }) {
  const { question } = actions;
  if (!question) return null;
  if (question.kind === 'shelve') return <ShelveDialog question={question} actions={actions} />;
  if (question.kind === 'assign') return <AssignDialog question={question} actions={actions} />;
  if (question.kind === 'clear') return <ClearQuestion question={question} actions={actions} />;
  return <AcknowledgeDialog question={question} actions={actions} />;
}

interface QuestionProps {
  readonly question: Question;
  readonly actions: AlarmActions;
}

/** The words of a title: how many alarms, or which one. */
function useSubject({ target: { count, title } }: Question) {
  const formats = useFormats();
  return { count, number: formats.number(count), title: clip(title, 60) };
}

function AcknowledgeDialog({ question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const { kind, target, note } = question;
  const subject = useSubject(question);
  const isNote = kind === 'note';
  return (
    <NoteDialog
      title={isNote ? t('noteTitle') : t('acknowledgeTitle', subject)}
      action={t(isNote ? 'changeNote' : 'short.acknowledge')}
      {...(note !== undefined && { before: note })}
      onClose={actions.endQuestion}
      onSubmit={(text) =>
        void actions.send('acknowledge', target, {
          ...(text !== '' && { note: text }),
          ...(isNote && { take: true }),
        })
      }
    />
  );
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

function ShelveDialog({ question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const { timeZone } = useTenant();
  const formats = useFormats();
  const subject = useSubject(question);
  const [now] = useState(Date.now);
  const [chosen, setChosen] = useState<End | 'own'>('1h');
  const [own, setOwn] = useState(() => toDateTimeField(nextMorning(now, timeZone), timeZone));
  const ownTime = fromDateTimeField(own, timeZone) ?? 0;
  // On a Sunday, the next morning is Monday's.
  const names = endNames.filter(
    (name) => name !== 'monday' || ends.monday(now, timeZone) !== ends.morning(now, timeZone),
  );
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
    </NoteDialog>
  );
}

const nobody = '';

/** The owner that all of them have; undefined: none, or not the same. */
function ownerOf({ count, owners }: Target) {
  const [first] = owners;
  // Of alarms that are not loaded, the owners are not known.
  return first && owners.length === count && owners.every((each) => each?.id === first.id)
    ? first
    : undefined;
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
      </DialogForm>
    </Dialog>
  );
}

function ClearQuestion({ question, actions }: QuestionProps) {
  const { t } = useTranslation('alarms');
  const { number } = useSubject(question);
  return (
    <Confirm
      title={t('clearTitle', { number })}
      action={t('short.clear')}
      onClose={actions.endQuestion}
      onConfirm={() => actions.send('clear', question.target)}
    >
      <Consequences>
        <li>{t('clearAbout')}</li>
        <li>{t('clearNote')}</li>
      </Consequences>
    </Confirm>
  );
}
