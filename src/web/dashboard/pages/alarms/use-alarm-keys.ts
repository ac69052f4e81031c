import { type RefObject, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useKeysInHelp, useShortcuts } from '#web/dashboard/components/keyboard.ts';
import type { ListLine } from './alarm-groups.ts';
import type { AlarmCommands } from './use-commands.ts';
import type { Selection } from './use-selection.ts';

/** The keys of the page, and their list. */
export function useAlarmKeys({
  lines,
  activeIndex,
  selection,
  commands,
  onRule,
  input,
  focusList,
  onMove,
  onClose,
}: {
  lines: readonly ListLine[];
  activeIndex: number;
  selection: Selection;
  commands: AlarmCommands;
  /** Makes a rule from the search. */
  onRule: () => void;
  input: RefObject<HTMLInputElement | null>;
  focusList: () => void;
  onMove: (line: ListLine) => void;
  /** Closes the open alarm, if one is. */
  onClose: (() => void) | undefined;
}): void {
  const { t } = useTranslation('alarms');
  const step = (by: 1 | -1) => () => {
    focusList();
    const line = lines[Math.max(0, Math.min(lines.length - 1, activeIndex + by))];
    if (line) onMove(line);
  };
  const select = () => {
    const line = lines[activeIndex];
    if (line) selection.toggle(line);
  };
  useShortcuts({
    '/': () => input.current?.focus(),
    ArrowDown: step(1),
    j: step(1),
    k: step(-1),
    x: select,
    '*': selection.selectLoaded,
    a: () => commands.acknowledge(),
    u: () => commands.takeBack(),
    s: () => commands.shelve(),
    o: () => commands.assign(),
    c: () => commands.clear(),
    m: () => commands.mute(),
    r: onRule,
    Escape: () => (selection.keys.size > 0 ? selection.end() : onClose?.()),
  });
  useKeysInHelp(
    useMemo(
      () => ({
        page: t('alarms'),
        list: [
          ['/', t('keys.searchHere')],
          ['↑ ↓ j k', t('keys.move')],
          ['Enter', t('keys.open')],
          ['← →', t('keys.group')],
          ['Space x', t('keys.select')],
          ['Shift ↑ ↓', t('keys.range')],
          ['*', t('keys.all')],
          ['a', t('keys.acknowledge')],
          ['u', t('keys.takeBack')],
          ['s', t('keys.shelve')],
          ['o', t('keys.assign')],
          ['c', t('keys.clear')],
          ['m', t('keys.mute')],
          ['r', t('ruleFromSearch', { ns: 'history' })],
          ['Esc', t('keys.end')],
        ],
      }),
      [t],
    ),
  );
}
