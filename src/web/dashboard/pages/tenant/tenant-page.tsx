import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Tenant as TenantSettings } from '#contract/people/tenant.ts';
import { settingsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { ErrorNotice, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { Page, Section } from '#web/dashboard/components/page.tsx';
import { timeIn } from '#web/dashboard/fields/time-zone-select.tsx';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { SettingsForms } from './settings-forms.tsx';
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
