import { Button, Group, Tooltip } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level, LevelPut } from '#contract/level.ts';
import { builtInStyles } from '#contract/level-styles.ts';
import { levelsQuery } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Confirm, Consequences, useUnsavedQuestion } from '#web/dashboard/components/confirm.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { useFormats } from '#web/dashboard/components/formats.ts';
import { DrawerFoot, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { useDraft } from '#web/dashboard/components/use-draft.ts';
import { CardPreview, SoundButton } from './card-preview.tsx';
import { levelDraftOf, styleOf } from './level-draft.ts';
import { LevelFields } from './level-fields.tsx';
import styles from './levels.module.css';

interface DrawerOptions {
  readonly level: Level;
  readonly levels: readonly Level[];
  readonly onClose: () => void;
}

/** One level: how it looks, sounds and how long it stays. */
export function LevelDrawer(options: DrawerOptions) {
  const { may } = useTenant();
  const { level, onClose } = options;
  const [isDirty, setDirty] = useState(false);
  const { question, leave } = useUnsavedQuestion(isDirty);
  return (
    <SideDrawer
      onClose={onClose}
      title={<LevelMark name={level.name} as={level} />}
      overlayProps={{ backgroundOpacity: 0.25 }}
    >
      {may('admin') ? (
        <LevelForm {...options} onClose={() => leave(onClose)} onDirty={setDirty} />
      ) : (
        <LevelFacts level={level} />
      )}
      {question}
    </SideDrawer>
  );
}

function LevelForm({
  level,
  levels,
  onClose,
  onDirty,
}: DrawerOptions & { onDirty: (isDirty: boolean) => void }) {
  const { t } = useTranslation('levels');
  const draft = useDraft(levelDraftOf(level), onDirty);
  const { shown, isDirty } = draft;
  const wanted = styleOf(shown);
  const { mutate, error, isPending, isSuccess, reset } = usePutLevel(level.name);
  const save = (style: LevelPut) => mutate(style, { onSuccess: () => draft.settle(shown) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isDirty && wanted) save(wanted);
  };
  return (
    <form onSubmit={submit}>
      <LevelFields
        level={level}
        levels={levels}
        draft={shown}
        onChange={(some) => {
          if (!isPending) reset();
          draft.change(some);
        }}
      />
      {error && <ErrorNotice error={error} title={t('saveFailed', { ns: 'shell' })} />}
      <DrawerFoot>
        <LevelEnd level={level} onReset={save} onDeleted={onClose} />
        <Group gap="xs" wrap="nowrap">
          <span role="status" className="muted">
            {isSuccess && !isDirty ? t('saved', { ns: 'shell' }) : ''}
          </span>
          <Button disabled={!isDirty} onClick={draft.discard}>
            {t('discard', { ns: 'shell' })}
          </Button>
          <Button type="submit" variant="filled" loading={isPending} disabled={!isDirty || !wanted}>
            {t('save', { ns: 'shell' })}
          </Button>
        </Group>
      </DrawerFoot>
    </form>
  );
}

function LevelFacts({ level }: { level: Level }) {
  const { t } = useTranslation('levels');
  const formats = useFormats();
  return (
    <div className={styles.fields}>
      <div className={styles.previews}>
        <CardPreview level={level} scheme="dark" />
        <CardPreview level={level} scheme="light" />
      </div>
      <Facts
        of={[
          [t('rank'), level.rank],
          [
            t('color'),
            <span key="color" className="mono">
              {level.color}
            </span>,
          ],
          [t('icon'), level.icon],
          [t('sound'), <SoundButton key="sound" sound={level.sound} level={level.name} />],
          [t('duration'), level.durationMs === 0 ? t('untilCleared') : formats.duration(level.durationMs)],
          [t('kind'), t(level.builtIn ? 'builtIn' : 'custom')],
        ]}
      />
    </div>
  );
}

export function usePutLevel(name: string) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (style: LevelPut) => tenant.api.put<Level>(`/api/levels/${encodeURIComponent(name)}`, style),
    onSuccess: (level) => {
      client.setQueryData(levelsQuery(tenant).queryKey, (levels) =>
        levels?.some((each) => each.name === level.name)
          ? levels.map((each) => (each.name === level.name ? level : each))
          : levels && [...levels, level],
      );
    },
  });
}

const isBuiltIn = (name: string): name is keyof typeof builtInStyles => Object.hasOwn(builtInStyles, name);

/** A custom level can be deleted, a built-in one only be what it was at first. */
function LevelEnd({
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
