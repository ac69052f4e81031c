import muteIcon from 'virtual:icon/bell-off';
import hoursIcon from 'virtual:icon/calendar-time';
import goOnIcon from 'virtual:icon/corner-right-down';
import endIcon from 'virtual:icon/hourglass';
import offIcon from 'virtual:icon/player-pause';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/rule.ts';
import { type Formats, useFormats } from '#web/dashboard/pieces/formats.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import styles from './rule-marks.module.css';
import { isMute, ruleState } from './rule-state.ts';

/** What sets a rule apart at a glance: that it mutes, ends, keeps hours, goes on, or does nothing now. */
export function RuleMarks({ rule, now }: { rule: Rule; now: number }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const state = ruleState(rule, now);
  const end = endText(rule, now, formats);
  return (
    <span className={styles.marks}>
      {isMute(rule) && (
        <Mark icon={muteIcon} tone={state === 'active' ? 'warning' : undefined}>
          {t('mark.mute')}
        </Mark>
      )}
      {state === 'disabled' && <Mark icon={offIcon}>{t('mark.disabled')}</Mark>}
      {state === 'early' && rule.activeFrom !== null && (
        <Mark icon={endIcon}>{t('mark.begins', { time: formats.relative(rule.activeFrom, now) })}</Mark>
      )}
      {state === 'ended' && rule.activeUntil !== null && (
        <Mark icon={endIcon}>{t('mark.ended', { time: formats.relative(rule.activeUntil, now) })}</Mark>
      )}
      {state !== 'ended' && end !== undefined && (
        <Mark icon={endIcon}>
          <span className={styles.count}>{t('mark.left', { time: end })}</span>
        </Mark>
      )}
      {rule.windows.length > 0 && (
        <Mark icon={hoursIcon}>{t(state === 'resting' ? 'mark.resting' : 'mark.windows')}</Mark>
      )}
      {rule.continue && <Mark icon={goOnIcon}>{t('mark.goesOn')}</Mark>}
    </span>
  );
}

/** How long it holds still: "2 h 14 min"; minutes are the finest that is worth reading. */
export function endText({ activeUntil }: Pick<Rule, 'activeUntil'>, now: number, formats: Formats) {
  if (activeUntil === null) return undefined;
  const left = Date.parse(activeUntil) - now;
  if (left <= 0) return undefined;
  return formats.duration(
    left < 60_000 ? Math.ceil(left / 1_000) * 1_000 : Math.floor(left / 60_000) * 60_000,
  );
}

function Mark({
  icon,
  tone,
  children,
}: {
  icon: readonly string[];
  tone?: 'warning' | undefined;
  children: React.ReactNode;
}) {
  return (
    <span className={tone === 'warning' ? styles.muting : styles.mark}>
      <Icon paths={icon} size={13} />
      {children}
    </span>
  );
}
