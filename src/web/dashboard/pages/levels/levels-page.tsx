import plusIcon from 'virtual:icon/plus';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { levelsQuery } from '#web/dashboard/api/levels.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { ErrorNotice, Remark } from '#web/dashboard/pieces/notice.tsx';
import { Page } from '#web/dashboard/pieces/page.tsx';
import { useShortcuts } from '#web/dashboard/shell/shortcuts.ts';
import { CreateLevel } from './create-level.tsx';
import { LevelDrawer } from './level-drawer.tsx';
import { LevelList } from './level-list.tsx';

const route = '/signed-in/t/$tenant/settings/levels';

/** How serious each level is, and how panels show it. */
export function LevelsPage() {
  const { t } = useTranslation('levels');
  const { t: shell } = useTranslation('shell');
  const tenant = useTenant();
  const { id } = useSearch({ from: route });
  const navigate = useNavigate({ from: '/t/$tenant/settings/levels' });
  const { data, error, refetch } = useQuery(levelsQuery(tenant));
  const [creating, setCreating] = useState(false);
  const mayEdit = tenant.may('admin');
  const levels = data?.toSorted((a, b) => b.rank - a.rank || a.name.localeCompare(b.name));
  const level = levels?.find(({ name }) => name === id);
  const open = (name: string | undefined) =>
    void navigate({ search: name === undefined ? {} : { id: name }, replace: name === undefined });
  useShortcuts(mayEdit ? { n: () => setCreating(true) } : {});
  return (
    <Page
      wide
      title={t('title')}
      about={t('about')}
      actions={
        mayEdit && (
          <Button
            variant="filled"
            leftSection={<Icon paths={plusIcon} />}
            onClick={() => setCreating(true)}
            aria-keyshortcuts="n"
          >
            {t('create')}
          </Button>
        )
      }
    >
      {!mayEdit && <Remark>{shell('mayNot', { role: shell(`role.${tenant.role}`) })}</Remark>}
      {error && !levels && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!(error && !levels) && <LevelList levels={levels} onOpen={open} />}
      {level && (
        <LevelDrawer key={level.name} level={level} levels={levels ?? []} onClose={() => open(undefined)} />
      )}
      {creating && levels && (
        <CreateLevel
          levels={levels}
          onClose={() => setCreating(false)}
          onCreated={(name) => {
            setCreating(false);
            open(name);
          }}
        />
      )}
    </Page>
  );
}
