import identifyIcon from 'virtual:icon/bulb';
import testIcon from 'virtual:icon/device-tv-old';
import reloadIcon from 'virtual:icon/refresh';
import { ActionIcon } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Panel, PanelCommand } from '#contract/panel.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { panelPath } from '#web/dashboard/api/panels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { showFailure, showToast } from '#web/dashboard/pieces/layers/toast.ts';
import styles from './panel-list.module.css';

export const commandIcons: Readonly<Record<PanelCommand, readonly string[]>> = {
  identify: identifyIcon,
  test: testIcon,
  reload: reloadIcon,
};
export const commandsInOrder: readonly PanelCommand[] = ['identify', 'test', 'reload'];

/** Has a panel do something; resolves with the sentence that says what came of it. Never throws. */
export function useCommand({ id, name }: Panel) {
  const { t } = useTranslation('panels');
  const { api } = useTenant();
  const { mutateAsync, isPending } = useMutation({
    mutationFn: (command: PanelCommand) => api.post<{ reached: boolean }>(`${panelPath(id)}/${command}`),
  });
  const run = async (command: PanelCommand): Promise<{ ok: boolean; text: string }> => {
    try {
      const { reached } = await mutateAsync(command);
      return { ok: reached, text: t(reached ? `reached.${command}` : 'notReached', { name }) };
    } catch (error) {
      return { ok: false, text: sentenceOf(error) };
    }
  };
  return { run, busy: isPending };
}

/** As {@link useCommand}, with its sentence at the foot of the page. */
export function useCommandToast(panel: Panel): (command: PanelCommand) => void {
  const { run } = useCommand(panel);
  return (command) =>
    void run(command).then(({ ok, text }) =>
      ok ? showToast({ message: text, autoClose: 5_000 }) : showFailure({ message: text }),
    );
}

export function CommandButtons({
  panel,
  onCommand,
}: {
  panel: Panel;
  onCommand: (command: PanelCommand) => void;
}) {
  const { t } = useTranslation('panels');
  return (
    <div className={styles.buttons}>
      {commandsInOrder.map((command) => (
        <ActionIcon
          key={command}
          size="md"
          aria-label={`${t(`command.${command}`)}: ${panel.name}`}
          title={t(`command.${command}.hint`)}
          onClick={() => onCommand(command)}
        >
          <Icon paths={commandIcons[command]} />
        </ActionIcon>
      ))}
    </div>
  );
}
