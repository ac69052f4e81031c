import identifyIcon from 'virtual:icon/bulb';
import testIcon from 'virtual:icon/device-tv-old';
import reloadIcon from 'virtual:icon/refresh';
import { ActionIcon, Button, Group } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel, PanelCommand } from '#contract/panels/panel.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { panelPath } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { showFailure, showToast } from '#web/dashboard/components/toast.tsx';
import drawerStyles from './panel-drawer.module.css';
import styles from './panel-list.module.css';

const commandIcons: Readonly<Record<PanelCommand, readonly string[]>> = {
  identify: identifyIcon,
  test: testIcon,
  reload: reloadIcon,
};
const commandsInOrder: readonly PanelCommand[] = ['identify', 'test', 'reload'];

/** Sends a command to a panel; resolves with a sentence about the result. Never throws. */
function useCommand({ id, name }: Panel) {
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

/** As {@link useCommand}, with a toast. */
export function useCommandToast(panel: Panel): (command: PanelCommand) => void {
  const { run } = useCommand(panel);
  return (command) =>
    void run(command).then(({ ok, text }) =>
      ok ? showToast({ message: text, autoClose: 5_000 }) : showFailure({ message: text }),
    );
}

export const CommandButtons = memo(function CommandButtons({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const onCommand = useCommandToast(panel);
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
});

/** The commands for a panel, and the result of the last. */
export function CommandRow({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { run, busy } = useCommand(panel);
  const [outcome, setOutcome] = useState<{ ok: boolean; text: string }>();
  return (
    <div className={drawerStyles.commands}>
      <Group gap="xs">
        {commandsInOrder.map((command) => (
          <Button
            key={command}
            size="xs"
            disabled={busy}
            title={t(`command.${command}.hint`)}
            leftSection={<Icon paths={commandIcons[command]} />}
            onClick={() => void run(command).then(setOutcome)}
          >
            {t(`command.${command}`)}
          </Button>
        ))}
      </Group>
      <p role="status" className={outcome && !outcome.ok ? drawerStyles.refused : drawerStyles.outcome}>
        {outcome?.text}
      </p>
    </div>
  );
}
