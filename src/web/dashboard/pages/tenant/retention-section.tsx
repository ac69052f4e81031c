import { NumberInput, SegmentedControl } from '@mantine/core';
import { useId, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Tenant as TenantSettings } from '#contract/tenant.ts';
import { localeOf, separatorsOf } from '#web/dashboard/pieces/formats.ts';
import { type LimitDraft, limitDraftOf, limitOf } from './limit-draft.ts';
import { SettingsSection } from './settings-section.tsx';
import styles from './tenant.module.css';

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
            label: t(`limit.${kind}`),
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
