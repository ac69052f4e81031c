import plusIcon from 'virtual:icon/plus';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { type RuleWindow, weekdays } from '#contract/routing/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import type { Field } from '#web/dashboard/fields/form-values.ts';
import { DateTimeField, TimeField, TimeZoneSelect } from '#web/dashboard/fields/time-fields.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import {
  fromDateTimeField,
  type MuteEnd,
  muteEnds,
  muteUntil,
  toDateTimeField,
} from '#web/dashboard/formats/wall-clock.ts';
import { useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import type { Draft, FieldProblems } from './draft.ts';
import styles from './editor.module.css';
import { EditorRow } from './editor-row.tsx';

type Times = Pick<Draft, 'activeFrom' | 'activeUntil' | 'windows' | 'timeZone'>;

const workHours: RuleWindow = { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '08:00', until: '18:00' };

/** When the rule is active: from, until, and hours of the week. */
export function TimeRows({
  times,
  onChange,
  problems,
  endIsElsewhere,
}: {
  times: Times;
  onChange: (times: Partial<Times>) => void;
  problems: FieldProblems;
  /** A mute has its end in its own row. */
  endIsElsewhere: boolean;
}) {
  const { t } = useTranslation('rules');
  return (
    <>
      <EditorRow lead={t('from')} problem={problems.at('activeFrom')}>
        <InstantField
          label={t('from')}
          value={times.activeFrom}
          onChange={(activeFrom) => onChange({ activeFrom })}
        />
        {times.activeFrom === null && <span className={styles.words}>{t('fromNow')}</span>}
      </EditorRow>
      {!endIsElsewhere && (
        <EditorRow lead={t('until')} problem={problems.at('activeUntil')}>
          <EndPicker value={times.activeUntil} onChange={(activeUntil) => onChange({ activeUntil })} />
        </EditorRow>
      )}
      <Windows times={times} onChange={onChange} problems={problems} />
    </>
  );
}

function Windows({
  times: { windows, timeZone },
  onChange,
  problems,
}: {
  times: Times;
  onChange: (times: Partial<Times>) => void;
  problems: FieldProblems;
}) {
  const { t } = useTranslation('rules');
  const problem = problems.at('windows');
  return (
    <>
      {windows.map((window, index) => (
        <EditorRow
          // biome-ignore lint/suspicious/noArrayIndexKey: windows have no identity. What is typed in a field ends when the focus leaves it, as for a click on Remove.
          key={index}
          lead={index === 0 ? t('on') : t('lead.or')}
          problem={problem?.at === index ? problem : undefined}
          removeLabel={t('removeWindow')}
          onRemove={() => onChange({ windows: windows.toSpliced(index, 1) })}
        >
          <WindowFields
            value={window}
            onChange={(next) => onChange({ windows: windows.with(index, next) })}
          />
        </EditorRow>
      ))}
      <div className={styles.row}>
        <span className={styles.lead}>{windows.length === 0 ? t('on') : t('lead.or')}</span>
        <div className={styles.inline}>
          {windows.length === 0 && <span className={styles.words}>{t('everyHour')}</span>}
          <Button
            size="xs"
            variant="subtle"
            className={styles.add ?? ''}
            leftSection={<Icon paths={plusIcon} size={14} />}
            onClick={() => onChange({ windows: [...windows, workHours] })}
          >
            {t('addWindow')}
          </Button>
        </div>
      </div>
      {windows.length > 0 && (
        <EditorRow lead={t('in')} problem={problems.at('timeZone')}>
          <TimeZoneSelect
            size="xs"
            w={260}
            variant="unstyled"
            classNames={{ input: styles.zone ?? '' }}
            aria-label={t('timeZone')}
            allowDeselect={false}
            value={timeZone}
            onChange={(zone) => onChange({ timeZone: zone })}
          />
        </EditorRow>
      )}
    </>
  );
}

const timeProps = { size: 'xs', w: 56, classNames: { input: styles.input ?? '' } };

/** The days, the beginning and the end of a weekly window. */
export function WindowFields({ value: window, onChange }: Field<RuleWindow>) {
  const { t } = useTranslation('rules');
  const words = useRuleWords();
  const toggle = (day: RuleWindow['days'][number]) => {
    const days = window.days.includes(day)
      ? window.days.filter((each) => each !== day)
      : weekdays.filter((each) => each === day || window.days.includes(each));
    // A window needs a day.
    if (days.length > 0) onChange({ ...window, days });
  };
  return (
    <>
      <span className={styles.days}>
        {weekdays.map((day) => (
          <button
            key={day}
            type="button"
            aria-pressed={window.days.includes(day)}
            onClick={() => toggle(day)}
          >
            {words.weekday(day)}
          </button>
        ))}
      </span>
      <TimeField
        {...timeProps}
        aria-label={t('from')}
        value={window.from}
        onChange={(from) => from !== '' && onChange({ ...window, from })}
      />
      <span className={styles.words}>–</span>
      <TimeField
        {...timeProps}
        aria-label={t('until')}
        value={window.until === '24:00' ? '00:00' : window.until}
        onChange={(until) => until !== '' && onChange({ ...window, until })}
      />
      {window.until !== '24:00' && window.until <= window.from && (
        <span className={styles.words}>{t('nextDay')}</span>
      )}
    </>
  );
}

/** When a rule ends: common choices, or a local date and time. */
export function EndPicker({ value, onChange }: Field<string | null>) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  const formats = useFormats();
  const now = Date.now();
  const text = (end: MuteEnd) => {
    const at = muteUntil(end, now, timeZone);
    return t(`end.${end}`, { time: at === null ? '' : formats.shortClock(at) });
  };
  return (
    <span className={styles.ends}>
      {muteEnds.map((end) => (
        <Button
          key={end}
          size="compact-xs"
          variant={end === 'never' && value === null ? 'light' : 'default'}
          aria-pressed={end === 'never' ? value === null : undefined}
          onClick={() => onChange(muteUntil(end, Date.now(), timeZone))}
        >
          {text(end)}
        </Button>
      ))}
      <InstantField label={t('endAt')} value={value} onChange={onChange} />
    </span>
  );
}

/** A date and time in the tenant's time zone; empty is null. */
function InstantField({ label, value, onChange }: Field<string | null> & { label: string }) {
  const { timeZone } = useTenant();
  return (
    <DateTimeField
      size="xs"
      className={styles.instant ?? ''}
      aria-label={`${label} (${timeZone})`}
      title={timeZone}
      value={value === null ? '' : toDateTimeField(Date.parse(value), timeZone)}
      onChange={(field) => {
        const at = fromDateTimeField(field, timeZone);
        onChange(at === undefined ? null : new Date(at).toISOString());
      }}
    />
  );
}
