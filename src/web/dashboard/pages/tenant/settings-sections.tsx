import { NumberInput, SegmentedControl, TextInput } from '@mantine/core';
import { useEffect, useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import { localeOf, separatorsOf } from '#web/dashboard/components/formats.ts';
import { type RateDraft, RateField, rateDraftOf, rateOf } from '#web/dashboard/components/rate-field.tsx';
import { TimeZoneSelect, timeIn } from '#web/dashboard/components/time-zone-select.tsx';
import { type LimitDraft, limitDraftOf, limitOf } from './limit-draft.ts';
import { SettingsSection } from './settings-section.tsx';
import styles from './tenant.module.css';

export function NameSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<string>();
  const title = draft ?? settings.title;
  const isMissing = title.trim() === '';
  return (
    <SettingsSection
      title={t('nameSection')}
      hint={t('nameHint')}
      patch={isMissing ? undefined : { title: title.trim() }}
      isChanged={title.trim() !== settings.title}
      onSaved={() => setDraft(undefined)}
    >
      <TextInput
        className={styles.field}
        label={t('tenantTitle')}
        value={title}
        maxLength={100}
        error={isMissing && t('titleMissing')}
        onChange={(event) => setDraft(event.currentTarget.value)}
      />
      <p className={styles.hint}>
        <span className="mono">{settings.name}</span> {t('shortName')}
      </p>
    </SettingsSection>
  );
}

export function TimeZoneSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<string>();
  const zone = draft ?? settings.timeZone;
  return (
    <SettingsSection
      title={t('timeZone')}
      hint={t('timeZoneHint')}
      patch={zone === '' ? undefined : { timeZone: zone }}
      isChanged={zone !== settings.timeZone}
      onSaved={() => setDraft(undefined)}
    >
      <div className={styles.field}>
        <TimeZoneSelect label={t('timeZoneLabel')} value={zone} onChange={setDraft} />
      </div>
      <p className={styles.hint}>
        {t('timeThere')} <Clock zone={zone} />
      </p>
    </SettingsSection>
  );
}

function Clock({ zone }: { zone: string }) {
  const { i18n } = useTranslation();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return <strong>{timeIn(zone, i18n.language, now)}</strong>;
}

const mostDays = 36_500;
const mostCount = 1_000_000_000;

/** How long, and how many, notifications history keeps: whichever comes first. */
export function RetentionSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<{ readonly days: LimitDraft; readonly count: LimitDraft }>();
  const saved = { days: limitDraftOf(settings.retentionDays), count: limitDraftOf(settings.retentionCount) };
  const shown = draft ?? saved;
  const days = limitOf(shown.days, mostDays);
  const count = limitOf(shown.count, mostCount);
  const isRight = days !== undefined && count !== undefined;
  const shrinks = isRight && (isLess(days, settings.retentionDays) || isLess(count, settings.retentionCount));
  return (
    <SettingsSection
      title={t('retention')}
      hint={t('retentionHint')}
      patch={isRight ? { retentionDays: days, retentionCount: count } : undefined}
      isChanged={!isRight || days !== settings.retentionDays || count !== settings.retentionCount}
      onSaved={() => setDraft(undefined)}
    >
      <LimitField
        label={t('days')}
        unit={t('daysUnit')}
        value={shown.days}
        error={days === undefined ? t('daysWrong') : undefined}
        onChange={(next) => setDraft({ ...shown, days: next })}
      />
      <LimitField
        label={t('count')}
        unit={t('countUnit')}
        value={shown.count}
        error={count === undefined ? t('countWrong') : undefined}
        onChange={(next) => setDraft({ ...shown, count: next })}
      />
      <p className={styles.warning} role="status">
        {shrinks ? t('retentionShrinks') : ''}
      </p>
    </SettingsSection>
  );
}

/** What the server's own limit is, is not known here: from it to a number may be less. */
const isLess = (next: number | 'off' | null, saved: number | 'off' | null) =>
  typeof next === 'number' && (saved === 'off' || saved === null || next < saved);

function LimitField({
  label,
  unit,
  value,
  error,
  onChange,
}: {
  label: string;
  unit: string;
  value: LimitDraft;
  error: string | undefined;
  onChange: (limit: LimitDraft) => void;
}) {
  const { t, i18n } = useTranslation('tenant');
  const id = useId();
  const separators = useMemo(() => separatorsOf(localeOf(i18n.language)), [i18n.language]);
  return (
    <div>
      <div className="mantine-InputWrapper-label" id={id}>
        {label}
      </div>
      <div className={styles.limit}>
        <SegmentedControl
          aria-labelledby={id}
          value={value.kind}
          onChange={(kind) => onChange({ ...value, kind })}
          data={(['server', 'own', 'off'] as const).map((kind) => ({
            value: kind,
            label: t(`limit.${kind}`, { ns: 'shell' }),
          }))}
        />
        {value.kind === 'own' && (
          <NumberInput
            className={styles.number}
            aria-label={`${label}: ${unit}`}
            suffix={` ${unit}`}
            min={0}
            clampBehavior="none"
            hideControls
            {...separators}
            value={value.value}
            error={value.value === '' ? undefined : error}
            onChange={(next) => onChange({ ...value, value: next })}
          />
        )}
      </div>
    </div>
  );
}

/** How fast all senders of the tenant together may send. */
export function RateSection({ settings }: { settings: TenantSettings }) {
  const { t } = useTranslation('tenant');
  const [draft, setDraft] = useState<RateDraft>();
  const shown = draft ?? rateDraftOf(settings.rate);
  const rate = rateOf(shown);
  return (
    <SettingsSection
      title={t('rate')}
      hint={t('rateHint')}
      patch={rate === undefined ? undefined : { rate }}
      isChanged={rate === undefined || JSON.stringify(rate) !== JSON.stringify(settings.rate)}
      onSaved={() => setDraft(undefined)}
    >
      <div className={styles.wideField}>
        <RateField label={t('rateLabel')} hint={t('rateCritical')} value={shown} onChange={setDraft} />
      </div>
    </SettingsSection>
  );
}
