import { Button, Group, NumberInput, Stack, Text, TextInput } from '@mantine/core';
import type { FormErrors } from '@mantine/form';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { TenantPatch, Tenant as TenantSettings } from '#contract/people/account.ts';
import { settingsQuery } from '#web/dashboard/api/queries.ts';
import { sessionQuery } from '#web/dashboard/api/session.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { ErrorNotice, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { Page, Section } from '#web/dashboard/components/page.tsx';
import { RateField, SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { type EditForm, useEditForm } from '#web/dashboard/fields/edit-form.tsx';
import { changesOf } from '#web/dashboard/fields/form-values.ts';
import {
  isLess,
  type LimitValues,
  limitKinds,
  limitOf,
  limitValuesOf,
  rateOf,
  rateValuesOf,
} from '#web/dashboard/fields/limits.ts';
import { TimeZoneSelect, timeIn } from '#web/dashboard/fields/time-fields.tsx';
import { localeOf, separatorsOf, useFormats, useNow } from '#web/dashboard/formats/use-formats.tsx';
import styles from './tenant.module.css';

/** The settings of the whole tenant. Admins change them, a part at a time; everyone may look. */
export function TenantPage() {
  const { t } = useTranslation('tenant');
  const tenant = useTenant();
  const { data: settings, error, refetch } = useQuery(settingsQuery(tenant));
  return (
    <Page title={t('tenant')} about={t('about')}>
      {error && !settings && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!settings && !error && (
        <div className={styles.skeletons} aria-hidden="true">
          <i />
          <i />
          <i />
        </div>
      )}
      {settings && tenant.may('admin') && <SettingsForms settings={settings} />}
      {settings && !tenant.may('admin') && (
        <>
          <RoleRemark what="mayNot" />
          <ReadOnly settings={settings} />
        </>
      )}
    </Page>
  );
}

function ReadOnly({ settings }: { settings: TenantSettings }) {
  const { t, i18n } = useTranslation('tenant');
  const formats = useFormats();
  const { rate, retentionDays: days, retentionCount: count } = settings;
  const limit = (value: number | 'off' | null, text: (value: number) => string) =>
    typeof value === 'number' ? text(value) : t(value === null ? 'limit.server' : 'limit.off');
  const rateText =
    rate === null || rate === 'off'
      ? limit(rate, String)
      : t('rate.value', { perSecond: formats.number(rate.perSecond), burst: formats.number(rate.burst) });
  return (
    <Section title={t('settings')}>
      <Facts
        of={[
          [t('tenantTitle'), <bdi key="title">{settings.title}</bdi>],
          [
            t('name'),
            <span key="name" className="mono">
              {settings.name}
            </span>,
          ],
          [t('timeZone'), `${settings.timeZone}, ${timeIn(settings.timeZone, i18n.language)}`],
          [t('daysFact'), limit(days, (value) => t('daysValue', { count: value }))],
          [
            t('countFact'),
            limit(count, (value) => t('countValue', { count: value, n: formats.number(value) })),
          ],
          [t('rate'), rateText],
          [t('created'), formats.dateTime(settings.createdAt)],
        ]}
      />
    </Section>
  );
}

/** The tenant's settings: a form for each part, saved by itself. */

const mostDays = 36_500;
const mostCount = 1_000_000_000;

function SettingsForms({ settings }: { settings: TenantSettings }) {
  return (
    <>
      <NameForm settings={settings} />
      <TimeZoneForm settings={settings} />
      <RetentionForm settings={settings} />
      <RateForm settings={settings} />
    </>
  );
}

function useSettingsForm<Values extends object>(
  saved: Values,
  validate: (values: Values) => FormErrors,
  patchOf: (values: Values) => TenantPatch,
): EditForm<Values> {
  const tenant = useTenant();
  const client = useQueryClient();
  return useEditForm({
    saved,
    validate,
    async save(values, before) {
      const changes = changesOf(patchOf(before), patchOf(values));
      const settings = await tenant.api.patch<TenantSettings>('/api/tenant', changes);
      client.setQueryData(settingsQuery(tenant).queryKey, settings);
      // The session has the title and the time zone too.
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
}

function SettingsSection<Values>({
  edit,
  title,
  hint,
  children,
}: {
  edit: EditForm<Values>;
  title: string;
  hint: string;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Section title={title}>
      <form onSubmit={edit.submit}>
        <Stack gap="sm">
          <Text c="dimmed" fz="sm" maw="68ch">
            {hint}
          </Text>
          {children}
          {edit.error && <ErrorNotice error={edit.error} title={t('saveFailed')} />}
          <Group gap="sm">
            <Button
              type="submit"
              variant={edit.isDirty ? 'filled' : 'default'}
              loading={edit.isPending}
              disabled={!edit.canSave}
              aria-label={`${t('save')}: ${title}`}
            >
              {t('save')}
            </Button>
            <span role="status" className="muted">
              {edit.isSaved ? t('saved') : ''}
            </span>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}

function NameForm({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const edit = useSettingsForm(
    { title: settings.title },
    ({ title }) => ({ title: title.trim() === '' && t('nameMissing') }),
    ({ title }) => ({ title: title.trim() }),
  );
  return (
    <SettingsSection edit={edit} title={t('nameSection')} hint={t('nameHint')}>
      <TextInput maw={400} label={t('tenantTitle')} maxLength={100} {...edit.form.getInputProps('title')} />
      <Text c="dimmed" fz="sm">
        <span className="mono">{settings.name}</span> {t('shortName')}
      </Text>
    </SettingsSection>
  );
}

function TimeZoneForm({ settings }: { settings: TenantSettings }) {
  const { t, i18n } = useTranslation('tenant');
  const now = useNow(1_000);
  const edit = useSettingsForm(
    { timeZone: settings.timeZone },
    ({ timeZone }) => ({ timeZone: timeZone === '' }),
    (values) => values,
  );
  const { timeZone } = edit.form.values;
  return (
    <SettingsSection edit={edit} title={t('timeZone')} hint={t('timeZoneHint')}>
      <TimeZoneSelect maw={400} label={t('timeZone')} {...edit.form.getInputProps('timeZone')} />
      <Text c="dimmed" fz="sm">
        {t('timeThere')} <strong>{timeIn(timeZone, i18n.language, now)}</strong>
      </Text>
    </SettingsSection>
  );
}

function RetentionForm({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const formats = useFormats();
  const { retentionDays, retentionCount, bounds } = settings;
  const read = (values: { days: LimitValues; count: LimitValues }) => ({
    retentionDays: limitOf(values.days, mostDays),
    retentionCount: limitOf(values.count, mostCount),
  });
  const edit = useSettingsForm(
    { days: limitValuesOf(retentionDays), count: limitValuesOf(retentionCount) },
    (values) => ({
      days: read(values).retentionDays === undefined && t('daysWrong'),
      count: read(values).retentionCount === undefined && t('countWrong'),
    }),
    (values) => read(values) as TenantPatch,
  );
  const next = read(edit.form.values);
  const keepsLess = isLess(next.retentionDays, retentionDays) || isLess(next.retentionCount, retentionCount);
  return (
    <SettingsSection edit={edit} title={t('retention')} hint={t('retentionHint')}>
      <LimitField label={t('days')} unit={t('unit.d')} {...edit.form.getInputProps('days')} />
      {bounds.retentionDays !== 'off' && <Bound>{t('daysBound', { count: bounds.retentionDays })}</Bound>}
      <LimitField label={t('count')} unit={t('countUnit')} {...edit.form.getInputProps('count')} />
      {bounds.retentionCount !== 'off' && (
        <Bound>{t('countBound', { n: formats.number(bounds.retentionCount) })}</Bound>
      )}
      <Text role="status" c="var(--warning)" fz="sm">
        {keepsLess ? t('retentionShrinks') : ''}
      </Text>
    </SettingsSection>
  );
}

function RateForm({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const formats = useFormats();
  const { rate: bound } = settings.bounds;
  const edit = useSettingsForm(
    { rate: rateValuesOf(settings.rate) },
    ({ rate }) => ({ rate: rateOf(rate) === undefined }),
    ({ rate }) => ({ rate: rateOf(rate) ?? null }),
  );
  const { value, onChange } = edit.form.getInputProps('rate');
  return (
    <SettingsSection edit={edit} title={t('rate')} hint={t('rateHint')}>
      <Stack maw={460}>
        <RateField label={t('rateLabel')} description={t('rateCritical')} value={value} onChange={onChange} />
        {bound !== 'off' && (
          <Bound>
            {t('rateBound', {
              perSecond: formats.number(bound.perSecond),
              burst: formats.number(bound.burst),
            })}
          </Bound>
        )}
      </Stack>
    </SettingsSection>
  );
}

/** The most that the operator of the server allows. */
function Bound({ children }: { children: ReactNode }) {
  return (
    <Text c="dimmed" fz="sm">
      {children}
    </Text>
  );
}

function LimitField({
  label,
  unit,
  value,
  error,
  onChange,
}: {
  label: string;
  unit: string;
  value?: LimitValues;
  error?: string;
  onChange: (limit: LimitValues) => void;
}) {
  const { t, i18n } = useTranslation('tenant');
  const separators = useMemo(() => separatorsOf(localeOf(i18n.language)), [i18n.language]);
  const limit = value ?? limitValuesOf(null);
  return (
    <Group gap={10} align="flex-start">
      <SegmentedField
        label={label}
        fullWidth={false}
        value={limit.kind}
        onChange={(kind) => onChange({ ...limit, kind })}
        options={limitKinds.map((kind) => [kind, t(`limit.${kind}`)] as const)}
      />
      {limit.kind === 'own' && (
        <NumberInput
          w={220}
          className={styles.ownLimit ?? ''}
          aria-label={`${label}: ${unit}`}
          suffix={` ${unit}`}
          clampBehavior="none"
          hideControls
          {...separators}
          value={limit.value}
          error={limit.value === '' ? undefined : error}
          onChange={(next) => onChange({ ...limit, value: next })}
        />
      )}
    </Group>
  );
}
