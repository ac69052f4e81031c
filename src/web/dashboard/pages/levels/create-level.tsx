import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/level.ts';
import { builtInStyles } from '#contract/level-styles.ts';
import { Dialog } from '#web/dashboard/pieces/layers/dialog.tsx';
import { ErrorNotice } from '#web/dashboard/pieces/notice.tsx';
import { isLevelName } from './level-draft.ts';
import { usePutLevel } from './level-drawer.tsx';

/** A name is enough: it begins as info looks, and is styled next. */
export function CreateLevel({
  levels,
  onClose,
  onCreated,
}: {
  levels: readonly Level[];
  onClose: () => void;
  onCreated: (name: string) => void;
}) {
  const { t } = useTranslation('levels');
  const [typed, setTyped] = useState('');
  const name = typed.trim().toLowerCase();
  const taken = levels.some((level) => level.name === name);
  const { mutate, error, isPending } = usePutLevel(name);
  const problem = taken ? t('nameTaken') : name !== '' && !isLevelName(name) ? t('nameWrong') : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name !== '' && problem === undefined)
      mutate(builtInStyles.info, { onSuccess: (level) => onCreated(level.name) });
  };
  return (
    <Dialog onClose={onClose} title={t('create')}>
      <form onSubmit={submit}>
        <Stack gap="md">
          <TextInput
            label={t('name')}
            description={t('nameHint')}
            placeholder="deploy"
            value={typed}
            maxLength={32}
            spellCheck={false}
            autoCapitalize="none"
            error={problem}
            data-autofocus
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
          {error && <ErrorNotice error={error} title={t('saveFailed')} />}
          <Group justify="flex-end" gap="xs">
            <Button onClick={onClose}>{t('cancel', { ns: 'shell' })}</Button>
            <Button
              type="submit"
              variant="filled"
              loading={isPending}
              disabled={name === '' || problem !== undefined}
            >
              {t('createDo')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
