import { Button, Switch, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { OnCallDetail, OnCallSchedule } from '#contract/routing/on-call.ts';
import { onCallDetailQuery, onCallPath } from '#web/dashboard/api/queries.ts';
import { type Tenant, useTenant } from '#web/dashboard/api/tenant.tsx';
import { SideDrawer } from '#web/dashboard/components/layers.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { DeleteButton, type DrawerForm, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { changesOf } from '#web/dashboard/fields/form-values.ts';
import { DurationField, TimeZoneSelect } from '#web/dashboard/fields/time-fields.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './on-call.module.css';
import { bodyOf, type OnCallValues, problemsOf, valuesOf } from './on-call-values.ts';
import { PeopleFields, ShiftFields } from './people-fields.tsx';
import { RotaPreview, ShiftList } from './shift-list.tsx';

interface DrawerProps {
  /** undefined: a new one. */
  readonly schedule: OnCallSchedule | undefined;
  readonly onCreated?: (id: string) => void;
  readonly onClose: () => void;
}

/** One schedule: its people, its rota or calendar, and who is on call in the next two weeks. */
export function OnCallDrawer(props: DrawerProps) {
  const { t } = useTranslation('onCall');
  const { schedule, onClose } = props;
  const { may } = useTenant();
  return (
    <SideDrawer onClose={onClose} title={schedule ? <bdi>{schedule.name}</bdi> : t('create')}>
      {may('admin') ? <OnCallForm {...props} /> : schedule && <Saved schedule={schedule} />}
    </SideDrawer>
  );
}

/** Who is on call by the schedule as it is saved, and how its calendar is. */
function Saved({ schedule }: { schedule: OnCallSchedule }) {
  const tenant = useTenant();
  const { data, error } = useQuery(onCallDetailQuery(tenant, schedule.id));
  return (
    <>
      {error && !data && <ErrorNotice error={error} />}
      {data?.calendarState && <CalendarState schedule={data} tenant={tenant} />}
      {data && <ShiftList shifts={data.shifts} timeZone={data.timeZone} />}
    </>
  );
}

function CalendarState({ schedule, tenant }: { schedule: OnCallDetail; tenant: Tenant }) {
  const { t } = useTranslation('onCall');
  const formats = useFormats();
  const client = useQueryClient();
  const { calendarState: state, id } = schedule;
  const read = useMutation({
    mutationFn: () => tenant.api.post<OnCallDetail>(`${onCallPath(id)}/read`),
    onSettled: () => client.invalidateQueries({ queryKey: [...tenant.key, 'onCall'] }),
  });
  if (!state) return null;
  return (
    <div className={styles.notice} role="status">
      {state.readAt !== null && <span>{t('readAt', { ago: formats.relative(state.readAt) })}</span>}
      {state.readAt === null && state.failingSince === null && <span>{t('readNever')}</span>}
      {state.failingSince !== null && (
        <strong>{t(state.readAt === null ? 'failingNever' : 'failing')}</strong>
      )}
      {state.error !== null && <bdi className="muted">{state.error}</bdi>}
      {state.unknown.length > 0 && <span>{t('unknownEvents', { titles: state.unknown.join(', ') })}</span>}
      {/* Absent from a server of an earlier version, during an update of several. */}
      {state.leftOut?.length > 0 && (
        <span>
          {t('leftOut', {
            events: state.leftOut
              .map(({ title, reason }) => `${title} (${t(`leftOut.${reason}`)})`)
              .join(', '),
          })}
        </span>
      )}
      {tenant.may('admin') && (
        <Button size="xs" loading={read.isPending} onClick={() => read.mutate()}>
          {t('readNow')}
        </Button>
      )}
      {read.error && <ErrorNotice error={read.error} />}
    </div>
  );
}

function OnCallForm({ schedule, onCreated, onClose }: DrawerProps) {
  const { t } = useTranslation('onCall');
  const tenant = useTenant();
  const client = useQueryClient();
  const texts = { needed: t('needed'), twice: t('twice'), firstWeekWrong: t('firstWeekWrong') };
  const edit = useDrawerForm<OnCallValues>({
    saved: valuesOf(schedule, tenant.timeZone),
    validate: (values) => problemsOf(values, texts),
    async save(values, before) {
      const body = bodyOf(values);
      const saved = schedule
        ? await tenant.api.patch<OnCallDetail>(onCallPath(schedule.id), changesOf(bodyOf(before), body))
        : await tenant.api.post<OnCallDetail>('/api/on-call', body);
      const listRead = client.invalidateQueries({ queryKey: [...tenant.key, 'onCall'] });
      // A new one is opened from the list.
      if (schedule) return;
      await listRead;
      edit.leave(() => onCreated?.(saved.id));
    },
  });
  return (
    <form className={styles.form} onSubmit={edit.submit}>
      <FormFields edit={edit} />
      {edit.form.values.source === 'rota' ? (
        <RotaPreview values={edit.form.values} problems={problemsOf(edit.form.values, texts)} />
      ) : (
        schedule?.calendar && <Saved schedule={schedule} />
      )}
      <EditFoot edit={edit}>
        {schedule ? (
          <DeleteButton
            path={onCallPath(schedule.id)}
            list={['onCall']}
            title={t('deleteTitle', { name: schedule.name })}
            action={t('deleteDo')}
            isGone={({ id }: OnCallSchedule) => id === schedule.id}
            onDeleted={() => edit.leave(onClose)}
          >
            {t('deleteAbout')}
          </DeleteButton>
        ) : (
          <span />
        )}
      </EditFoot>
    </form>
  );
}

function FormFields({ edit: { form } }: { edit: DrawerForm<OnCallValues> }) {
  const { t } = useTranslation('onCall');
  const { values } = form;
  return (
    <>
      <TextInput label={t('name')} maxLength={100} required {...form.getInputProps('name')} />
      <TimeZoneSelect label={t('timeZone')} allowDeselect={false} {...form.getInputProps('timeZone')} />
      <PeopleFields form={form} />
      <SegmentedField
        label={t('source')}
        value={values.source}
        onChange={(source) => form.setFieldValue('source', source)}
        options={[
          ['rota', t('rota')],
          ['calendar', t('calendar')],
        ]}
      />
      {values.source === 'rota' ? (
        <>
          <TextInput
            label={t('firstWeek')}
            description={t('firstWeekHint')}
            maxLength={10}
            {...form.getInputProps('firstWeek')}
          />
          <ShiftFields form={form} />
        </>
      ) : (
        <TextInput
          label={t('url')}
          description={t('urlHint')}
          placeholder="https://…/basic.ics"
          {...form.getInputProps('url')}
        />
      )}
      <Switch label={t('alert')} {...form.getInputProps('isAlerting', { type: 'checkbox' })} />
      {values.isAlerting && (
        <DurationField
          label={t('alertBefore')}
          ms={values.alertBeforeMs}
          onChange={(ms) => form.setFieldValue('alertBeforeMs', ms)}
          error={form.errors.alertBeforeMs !== undefined}
        />
      )}
    </>
  );
}
