import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import type { Level } from '#contract/routing/level.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { levelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Dialog, DialogForm, useOpened } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { RoleRemark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { RowButton, RowTable } from '#web/dashboard/components/row-table.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { LevelStubs, SoundButton } from './card-preview.tsx';
import { LevelDrawer, usePutLevel } from './level-drawer.tsx';
import styles from './levels.module.css';

/** How serious each level is, and how panels show it. */
export function LevelsPage() {
  const { t } = useTranslation('levels');
  const formats = useFormats();
  const tenant = useTenant();
  const [id, open] = useOpened();
  const { data, error, refetch } = useQuery(levelsQuery(tenant));
  const [creating, setCreating] = useState(false);
  const mayEdit = tenant.may('admin');
  const levels = data?.toSorted((a, b) => b.rank - a.rank || a.name.localeCompare(b.name));
  const level = levels?.find(({ name }) => name === id);
  return (
    <Page
      wide
      title={t('levels')}
      about={t('about')}
      actions={mayEdit && <CreateButton onClick={() => setCreating(true)}>{t('create')}</CreateButton>}
    >
      {!mayEdit && <RoleRemark what="mayNot" />}
      <RowTable
        query={{ data: levels, error, refetch }}
        caption={t('levels')}
        keys={[mayEdit && t('keys.create')]}
        keyOf={({ name }) => name}
        onOpen={open}
        columns={[
          [t('rank'), ({ rank }) => <span className="mono muted">{rank}</span>, styles.rank],
          [t('field.level'), (each) => <LevelName level={each} />, undefined, ({ name }) => name],
          [t('onPanels'), (each) => <LevelStubs level={each} />, styles.preview],
          [
            t('duration'),
            ({ durationMs }) => (durationMs === 0 ? t('untilCleared') : formats.duration(durationMs)),
            styles.duration,
          ],
          [t('sound'), ({ sound, name }) => <SoundButton sound={sound} level={name} />, styles.sound],
          [
            t('kind'),
            ({ builtIn }) => <span className="muted">{t(builtIn ? 'builtIn' : 'custom')}</span>,
            styles.kind,
          ],
        ]}
      />
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

function LevelName({ level }: { level: Level }) {
  return (
    <RowButton>
      <LevelMark name={level.name} as={level} />
    </RowButton>
  );
}

/** A name is enough: a new level begins with the looks of info. */
function CreateLevel({
  levels,
  onClose,
  onCreated,
}: {
  levels: readonly Level[];
  onClose: () => void;
  onCreated: (name: string) => void;
}) {
  const { t } = useTranslation('levels');
  const form = useForm({
    initialValues: { name: '' },
    validateInputOnChange: true,
    validate: {
      name: (typed) => {
        const name = typed.trim().toLowerCase();
        if (levels.some((level) => level.name === name)) return t('nameTaken');
        return limits.levelPattern.test(name) ? null : t('nameWrong');
      },
    },
  });
  const put = usePutLevel(form.values.name.trim().toLowerCase());
  return (
    <Dialog onClose={onClose} title={t('create')}>
      <DialogForm
        action={t('create')}
        request={put}
        errorTitle={t('createFailed')}
        isDisabled={form.isValid() !== true}
        onSubmit={() => put.mutate(builtInStyles.info, { onSuccess: ({ name }) => onCreated(name) })}
        onClose={onClose}
      >
        <TextInput
          label={t('name')}
          description={t('nameHint')}
          placeholder="deploy"
          maxLength={32}
          spellCheck={false}
          autoCapitalize="none"
          data-autofocus
          {...form.getInputProps('name')}
        />
      </DialogForm>
    </Dialog>
  );
}
