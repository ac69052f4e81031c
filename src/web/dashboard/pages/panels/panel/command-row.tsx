import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { commandIcons, commandsInOrder, useCommand } from '../commands.tsx';
import styles from './panel.module.css';

/** What a connected panel can be told to do, and what came of it. */
export function CommandRow({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { run, busy } = useCommand(panel);
  const [said, setSaid] = useState<{ ok: boolean; text: string }>();
  return (
    <div className={styles.commands}>
      <Group gap="xs">
        {commandsInOrder.map((command) => (
          <Button
            key={command}
            size="xs"
            disabled={busy}
            title={t(`command.${command}.hint`)}
            leftSection={<Icon paths={commandIcons[command]} />}
            onClick={() => void run(command).then(setSaid)}
          >
            {t(`command.${command}`)}
          </Button>
        ))}
      </Group>
      <p role="status" className={said && !said.ok ? styles.refused : styles.said}>
        {said?.text}
      </p>
    </div>
  );
}
