import { Button, Tooltip } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level, LevelPut } from '#contract/level.ts';
import { builtInStyles } from '#contract/level-styles.ts';
import { levelsQuery } from '#web/dashboard/api/levels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Confirm, Consequences } from '#web/dashboard/pieces/layers/confirm.tsx';
import { useLevelLook } from '#web/dashboard/pieces/level-mark.tsx';

const isBuiltIn = (name: string): name is keyof typeof builtInStyles => Object.hasOwn(builtInStyles, name);

/** A custom level can be deleted, a built-in one only be what it was at first. */
export function LevelEnd({
  level,
  onReset,
  onDeleted,
}: {
  level: Level;
  onReset: (style: LevelPut) => void;
  onDeleted: () => void;
}) {
  const { t } = useTranslation('levels');
  const [asking, setAsking] = useState(false);
  const { name } = level;
  if (isBuiltIn(name)) {
    const style = builtInStyles[name];
    const isAsAtFirst = Object.entries(style).every(([key, value]) => level[key as keyof Level] === value);
    return (
      <Tooltip label={t(isAsAtFirst ? 'resetDone' : 'resetHint')}>
        <span>
          <Button variant="subtle" disabled={isAsAtFirst} onClick={() => onReset(style)}>
            {t('reset')}
          </Button>
        </span>
      </Tooltip>
    );
  }
  return (
    <>
      <Button variant="subtle" color="error" onClick={() => setAsking(true)}>
        {t('delete')}
      </Button>
      {asking && <DeleteLevel name={name} onClose={() => setAsking(false)} onDeleted={onDeleted} />}
    </>
  );
}

function DeleteLevel({
  name,
  onClose,
  onDeleted,
}: {
  name: string;
  onClose: () => void;
  onDeleted: () => void;
}) {
  const { t } = useTranslation('levels');
  const tenant = useTenant();
  const client = useQueryClient();
  const lookOf = useLevelLook();
  const remove = async () => {
    await tenant.api.delete(`/api/levels/${encodeURIComponent(name)}`);
    client.setQueryData(levelsQuery(tenant).queryKey, (levels) =>
      levels?.filter((each) => each.name !== name),
    );
    onDeleted();
  };
  return (
    <Confirm
      title={t('deleteTitle', { name: lookOf(name).word })}
      action={t('deleteDo')}
      onConfirm={remove}
      onClose={onClose}
    >
      <Consequences>
        <li>{t('deleteHistory')}</li>
        <li>{t('deleteAgain')}</li>
        <li>{t('deleteRules')}</li>
      </Consequences>
    </Confirm>
  );
}
