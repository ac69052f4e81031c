import { Button, Group, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Scope } from '#contract/token.ts';
import { curlGet, curlWithHeaders, curlWithJson } from '#web/dashboard/api/curl.ts';
import { CopyField } from '#web/dashboard/pieces/fields/copy-field.tsx';
import styles from './create.module.css';

/** The secret, and commands that use it at this very server. */
export function SecretShown({
  secret,
  scopes,
  onClose,
}: {
  secret: string;
  /** Of a token; a key is told apart. */
  scopes: readonly Scope[] | 'key';
  onClose: () => void;
}) {
  const { t } = useTranslation('tokens');
  const { t: welcome } = useTranslation('welcome');
  const server = location.origin;
  const example = { title: welcome('curlTitle'), message: welcome('curlMessage') };
  const commands: readonly (readonly [label: string, command: string])[] =
    scopes === 'key'
      ? [[t('use.history'), curlGet(server, secret, '/api/history', { q: 'level:>=warning since:1h' })]]
      : [
          ...(scopes.includes('notify')
            ? ([
                [t('use.json'), curlWithJson(server, secret, example)],
                [t('use.headers'), curlWithHeaders(server, secret, example)],
              ] as const)
            : []),
          ...(scopes.includes('metrics')
            ? ([[t('use.metrics'), curlGet(server, secret, '/tenant-metrics')]] as const)
            : []),
          ...(scopes.includes('panel')
            ? ([[t('use.panels'), curlGet(server, secret, '/api/panels')]] as const)
            : []),
        ];
  const [chosen, setChosen] = useState(commands[0]?.[0] ?? '');
  return (
    <Stack gap="md">
      <p className={styles.once}>{t('once')}</p>
      <CopyField text={secret} label={t('secret')} />
      {commands.length > 1 && (
        <SegmentedControl
          size="xs"
          aria-label={t('use')}
          value={chosen}
          onChange={setChosen}
          data={commands.map(([label]) => label)}
        />
      )}
      <CopyField text={commands.find(([label]) => label === chosen)?.[1] ?? ''} label={`curl, ${chosen}`} />
      <Group justify="flex-end">
        <Button variant="filled" onClick={onClose}>
          {t('kept')}
        </Button>
      </Group>
    </Stack>
  );
}
