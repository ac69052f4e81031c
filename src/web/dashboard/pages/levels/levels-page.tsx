import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/level.ts';
import { builtInStyles } from '#contract/level-styles.ts';
import { limits } from '#contract/limits.ts';
import { levelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { Dialog, DialogForm } from '#web/dashboard/components/layers.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice, Remark } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { OpeningRow, RowButton, RowTable, useRowKeys } from '#web/dashboard/components/row-table.tsx';
import { LevelStub, SoundButton } from './card-preview.tsx';
import { LevelDrawer, usePutLevel } from './level-drawer.tsx';
import styles from './levels.module.css';

const route = '/signed-in/t/$tenant/settings/levels';

/** How serious each level is, and how panels show it. */
export function LevelsPage() {
  const { t } = useTranslation('levels');
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
  return (
    <Page
      wide
      title={t('levels')}
      about={t('about')}
      actions={mayEdit && <CreateButton onClick={() => setCreating(true)}>{t('create')}</CreateButton>}
    >
      {!mayEdit && <Remark>{t('mayNot', { role: t(`role.${tenant.role}`) })}</Remark>}
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

/** @param props.levels the highest in rank first; undefined until they are here. */
function LevelList({
  levels,
  onOpen,
}: {
  levels: readonly Level[] | undefined;
  onOpen: (name: string) => void;
}) {
  const { t } = useTranslation('levels');
  const { may } = useTenant();
  const rows = useRowKeys<HTMLTableElement>();
  return (
    <RowTable
      rows={rows}
      caption={t('levels')}
      isWaiting={!levels}
      hint={may('admin') ? `${t('keys')} · ${t('keys.admin')}` : t('keys')}
      head={
        <>
          <th className={styles.rank}>{t('rank')}</th>
          <th>{t('field.level')}</th>
          <th className={styles.preview}>{t('onPanels')}</th>
          <th className={styles.duration}>{t('duration')}</th>
          <th className={styles.sound}>{t('sound')}</th>
          <th className={styles.kind}>{t('kind')}</th>
        </>
      }
    >
      {levels?.map((level) => (
        <Row key={level.name} level={level} onOpen={() => onOpen(level.name)} />
      ))}
    </RowTable>
  );
}

function Row({ level, onOpen }: { level: Level; onOpen: () => void }) {
  const { t } = useTranslation('levels');
  const formats = useFormats();
  return (
    <OpeningRow onOpen={onOpen}>
      <td className={`${styles.rank} mono muted`}>{level.rank}</td>
      <td>
        <RowButton onOpen={onOpen}>
          <LevelMark name={level.name} as={level} />
        </RowButton>
      </td>
      <td className={styles.preview}>
        <span className={styles.stubs} aria-hidden="true">
          <LevelStub level={level} scheme="dark" />
          <LevelStub level={level} scheme="light" />
        </span>
      </td>
      <td className={styles.duration}>
        {level.durationMs === 0 ? t('untilCleared') : formats.duration(level.durationMs)}
      </td>
      <td className={styles.sound}>
        <SoundButton sound={level.sound} level={level.name} />
      </td>
      <td className={`${styles.kind} muted`}>{t(level.builtIn ? 'builtIn' : 'custom')}</td>
    </OpeningRow>
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
