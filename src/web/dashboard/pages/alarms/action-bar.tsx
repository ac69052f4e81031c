import backIcon from 'virtual:icon/arrow-back-up';
import muteIcon from 'virtual:icon/bell-off';
import clearIcon from 'virtual:icon/circle-check';
import shelveIcon from 'virtual:icon/clock-pause';
import assignIcon from 'virtual:icon/user';
import acknowledgeIcon from 'virtual:icon/user-check';
import closeIcon from 'virtual:icon/x';
import { ActionIcon, Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { AlarmAction } from '#contract/history/alarm.ts';
import type { AlarmsTab } from '#contract/history/alarm-states.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import styles from './alarms-page.module.css';
import { type AlarmCommands, mainActions } from './use-commands.ts';
import type { Selection } from './use-selection.ts';

/** The actions on the selected alarms, below the list. */
export function ActionBar({
  selection,
  matching,
  tab,
  mayMute,
  commands,
}: {
  selection: Selection;
  /** How many alarms match the search, loaded or not. */
  matching: number;
  tab: AlarmsTab;
  mayMute: boolean;
  commands: AlarmCommands;
}) {
  const { t } = useTranslation('alarms');
  const formats = useFormats();
  const count = selection.isAll ? matching : selection.keys.size;
  const number = formats.number(matching);
  const main = mainActions[tab];
  return (
    <section className={styles.actions} aria-label={t('selectionActions')}>
      <strong role="status">{t('selected', { count, number: formats.number(count) })}</strong>
      {selection.isAll ? (
        <span className={styles.all}>{t('allSelected', { number })}</span>
      ) : (
        matching > count && (
          <button type="button" className={styles.selectAll} onClick={selection.selectAll}>
            {t('selectAll', { number })}
          </button>
        )
      )}
      <div className={styles.commands}>
        {tab !== 'suppressed' && (
          <Command
            name={`short.${main}`}
            icon={main === 'acknowledge' ? acknowledgeIcon : backIcon}
            shortcut={main === 'acknowledge' ? 'a' : 'u'}
            isMain
            onClick={main === 'acknowledge' ? commands.acknowledge : commands.takeBack}
          />
        )}
        <Command
          name="assign"
          icon={assignIcon}
          shortcut="o"
          isMain={tab === 'suppressed'}
          onClick={commands.assign}
        />
        <Command name="shelve" icon={shelveIcon} shortcut="s" onClick={commands.shelve} />
        <Command name="short.clear" icon={clearIcon} shortcut="c" onClick={commands.clear} />
        {mayMute && <Command name="muteThese" icon={muteIcon} shortcut="m" onClick={commands.mute} />}
      </div>
      <span className={styles.hint}>
        <kbd>?</kbd> {t('allKeys')}
      </span>
      <ActionIcon
        className={styles.end}
        onClick={selection.end}
        aria-label={t('endSelection')}
        title={t('endSelection')}
      >
        <Icon paths={closeIcon} />
      </ActionIcon>
    </section>
  );
}

function Command({
  name,
  icon,
  shortcut,
  isMain = false,
  onClick,
}: {
  name: `short.${AlarmAction}` | 'shelve' | 'assign' | 'muteThese';
  icon: readonly string[];
  shortcut: string;
  isMain?: boolean;
  onClick: () => void;
}) {
  const { t } = useTranslation('alarms');
  return (
    <Button
      className={styles.command}
      variant={isMain ? 'filled' : 'default'}
      leftSection={<Icon paths={icon} />}
      rightSection={
        <span className={styles.key} aria-hidden="true">
          {shortcut}
        </span>
      }
      aria-keyshortcuts={shortcut}
      onClick={onClick}
    >
      {t(name)}
    </Button>
  );
}
