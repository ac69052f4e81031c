import { Button, Tooltip } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import type { Level, LevelPut } from '#contract/routing/level.ts';
import { builtInStyles } from '#contract/routing/level-styles.ts';
import { rulesThatName } from '#contract/routing/rule-names.ts';
import { levelsQuery, putInList } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { Consequences, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { changesOf } from '#web/dashboard/fields/rebase.ts';
import { useFormats } from '#web/dashboard/formats/formats.ts';
import { CardPreviews, SoundButton } from './card-preview.tsx';
import { isBuiltIn, LevelFields } from './level-fields.tsx';
import { type LevelValues, levelValuesOf, problemsOf } from './level-values.ts';

interface DrawerProps {
  readonly level: Level;
  readonly levels: readonly Level[];
  readonly onClose: () => void;
}

/** One level: how it looks, sounds and how long it stays. */
export function LevelDrawer(props: DrawerProps) {
  const { may } = useTenant();
  const { level, onClose } = props;
  return (
    <SideDrawer onClose={onClose} title={<LevelMark name={level.name} as={level} />}>
      {may('admin') ? <LevelForm {...props} /> : <LevelFacts level={level} />}
    </SideDrawer>
  );
}

const levelPath = (name: string) => `/api/levels/${encodeURIComponent(name)}`;

export function usePutLevel(name: string) {
  const tenant = useTenant();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (style: LevelPut) => tenant.api.put<Level>(levelPath(name), style),
    onSuccess: (level) => putInList(client, levelsQuery(tenant), level, (other) => other.name === level.name),
  });
}

const putOf = (values: LevelValues): LevelPut => ({ ...values, rank: Number(values.rank) });

function LevelForm({ level, levels, onClose }: DrawerProps) {
  const { t } = useTranslation('levels');
  const put = usePutLevel(level.name);
  const reset = usePutLevel(level.name);
  const edit = useDrawerForm({
    saved: levelValuesOf(level),
    validate: (values) =>
      Object.fromEntries(Object.entries(problemsOf(values)).map(([field, key]) => [field, t(key)])),
    save: (values, before) => put.mutateAsync(changesOf(putOf(before), putOf(values))),
  });
  const style = isBuiltIn(level.name) ? builtInStyles[level.name] : undefined;
  return (
    <form onSubmit={edit.submit}>
      <LevelFields level={level} levels={levels} form={edit.form} />
      {reset.error && <ErrorNotice error={reset.error} />}
      <EditFoot edit={edit}>
        {style ? (
          <ResetButton level={level} style={style} onReset={() => reset.mutate(style)} />
        ) : (
          <DeleteLevel name={level.name} onDeleted={() => edit.leave(onClose)} />
        )}
      </EditFoot>
    </form>
  );
}

/** A built-in level cannot be deleted. */
function ResetButton({ level, style, onReset }: { level: Level; style: LevelPut; onReset: () => void }) {
  const { t } = useTranslation('levels');
  const isDefault = Object.entries(style).every(([key, value]) => level[key as keyof Level] === value);
  return (
    <Tooltip label={t(isDefault ? 'resetDone' : 'resetHint')}>
      <span>
        <Button variant="subtle" disabled={isDefault} onClick={onReset}>
          {t('reset')}
        </Button>
      </span>
    </Tooltip>
  );
}

function DeleteLevel({ name, onDeleted }: { name: string; onDeleted: () => void }) {
  const { t } = useTranslation('levels');
  const { data: rules = [] } = useQuery(rulesQuery(useTenant()));
  const naming = rulesThatName(name, rules);
  const lookOf = useLevelLook();
  return (
    <DeleteButton
      path={levelPath(name)}
      list={['levels']}
      title={t('deleteTitle', { name: lookOf(name).word })}
      action={t('deleteDo')}
      isGone={(row: Level) => row.name === name}
      onDeleted={onDeleted}
    >
      <Consequences>
        <li>{t('deleteHistory')}</li>
        <li>{t('deleteAgain')}</li>
        {naming.length > 0 && (
          <li>
            {t('deleteRules')}{' '}
            <strong>
              <bdi>{naming.map((rule) => rule.name).join(', ')}</bdi>
            </strong>
          </li>
        )}
      </Consequences>
    </DeleteButton>
  );
}

function LevelFacts({ level }: { level: Level }) {
  const { t } = useTranslation('levels');
  const formats = useFormats();
  return (
    <>
      <CardPreviews level={level} />
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
    </>
  );
}
