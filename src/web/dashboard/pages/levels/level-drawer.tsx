import { iconPaths } from 'virtual:icons';
import { Button, ColorInput, Group, Input, NumberInput, Select, Stack, Tooltip } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { limits } from '#contract/limits.ts';
import type { Level, LevelPut } from '#contract/routing/level.ts';
import { builtInStyles, levelIcons, levelSounds } from '#contract/routing/level-styles.ts';
import { rulesThatName } from '#contract/routing/rule-names.ts';
import { levelsQuery, putInList } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/components/facts.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Consequences, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { LevelMark, useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { SegmentedField } from '#web/dashboard/fields/choice-fields.tsx';
import { DeleteButton, EditFoot, useDrawerForm } from '#web/dashboard/fields/edit-form.tsx';
import { changesOf, type Field } from '#web/dashboard/fields/form-values.ts';
import { isAcknowledgeTime, isWithin } from '#web/dashboard/fields/limits.ts';
import { DurationField } from '#web/dashboard/fields/time-fields.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { shownColor } from '#web/level-look.ts';
import { CardPreviews, SoundButton } from './card-preview.tsx';
import styles from './levels.module.css';

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
          [
            t('acknowledge'),
            level.acknowledgeForMs ? formats.duration(level.acknowledgeForMs) : t('acknowledge.stay'),
          ],
          [t('kind'), t(level.builtIn ? 'builtIn' : 'custom')],
        ]}
      />
    </>
  );
}

const isBuiltIn = (name: string): name is keyof typeof builtInStyles => Object.hasOwn(builtInStyles, name);

const swatches = [...Object.values(builtInStyles).map(({ color }) => color), '#a78bfa', '#2dd4bf', '#97a3b6'];
const defaultDurationMs = 30_000;
const defaultRepeatMs = 60_000;
const defaultAcknowledgeMs = 4 * 3_600_000;

/** The fields of a level's style, below a preview of the level on a panel. */
function LevelFields({
  level,
  levels,
  form,
}: {
  /** As it is saved. */
  level: Level;
  levels: readonly Level[];
  form: UseFormReturnType<LevelValues>;
}) {
  const { t } = useTranslation('levels');
  const shown = levelOf(level, form.values);
  const { durationMs, sound, repeatMs, acknowledgeForMs } = form.values;
  return (
    <Stack gap="md" pb="lg">
      <CardPreviews level={shown} />
      <NumberInput
        label={t('rank')}
        description={<RankHint level={shown} levels={levels} />}
        min={0}
        max={1_000}
        clampBehavior="none"
        allowDecimal={false}
        {...form.getInputProps('rank')}
      />
      <div>
        <ColorInput
          label={t('color')}
          description={t('colorHint')}
          format="hex"
          swatches={swatches}
          swatchesPerRow={8}
          withEyeDropper={false}
          {...form.getInputProps('color')}
          onChange={(color) => form.setFieldValue('color', color.toLowerCase())}
        />
        <ContrastNote level={shown} />
      </div>
      <IconField value={form.values.icon} onChange={(icon) => form.setFieldValue('icon', icon)} />
      <Group gap="sm" wrap="nowrap" align="flex-end">
        <Select
          flex={1}
          label={t('sound')}
          description={t('soundHint')}
          data={levelSounds.map((each) => ({ value: each, label: t(`sound.${each}`) }))}
          allowDeselect={false}
          {...form.getInputProps('sound')}
        />
        <Group h={36}>
          <SoundButton sound={sound} level={level.name} />
        </Group>
      </Group>
      {sound !== 'none' && (
        <Stack gap={8}>
          <SegmentedField
            label={t('repeat')}
            description={t('repeatHint')}
            value={repeatMs === 0 ? 'once' : 'repeat'}
            onChange={(kind) => form.setFieldValue('repeatMs', kind === 'once' ? 0 : defaultRepeatMs)}
            options={[
              ['once', t('repeat.once')],
              ['repeat', t('repeat.repeat')],
            ]}
          />
          {repeatMs !== 0 && (
            <DurationField
              label={t('repeat')}
              ms={repeatMs}
              onChange={(ms) => form.setFieldValue('repeatMs', ms)}
              error={form.errors.repeatMs as string | undefined}
              longest="h"
            />
          )}
        </Stack>
      )}
      <Stack gap={8}>
        <SegmentedField
          label={t('duration')}
          description={t('durationHint')}
          value={durationMs === 0 ? 'cleared' : 'time'}
          onChange={(kind) => form.setFieldValue('durationMs', kind === 'cleared' ? 0 : defaultDurationMs)}
          options={[
            ['time', t('duration.time')],
            ['cleared', t('untilCleared')],
          ]}
        />
        {durationMs !== 0 && (
          <DurationField
            label={t('duration')}
            ms={durationMs}
            onChange={(ms) => form.setFieldValue('durationMs', ms)}
            error={form.errors.durationMs as string | undefined}
          />
        )}
      </Stack>
      <Stack gap={8}>
        <SegmentedField
          label={t('acknowledge')}
          description={t('acknowledgeHint')}
          value={acknowledgeForMs === 0 ? 'stay' : 'time'}
          onChange={(kind) =>
            form.setFieldValue('acknowledgeForMs', kind === 'stay' ? 0 : defaultAcknowledgeMs)
          }
          options={[
            ['stay', t('acknowledge.stay')],
            ['time', t('acknowledge.time')],
          ]}
        />
        {acknowledgeForMs !== 0 && (
          <DurationField
            label={t('acknowledge')}
            ms={acknowledgeForMs}
            onChange={(ms) => form.setFieldValue('acknowledgeForMs', ms)}
            error={form.errors.acknowledgeForMs as string | undefined}
          />
        )}
      </Stack>
    </Stack>
  );
}

/** The levels next to it in rank. */
function RankHint({ level, levels }: { level: Level; levels: readonly Level[] }) {
  const { t } = useTranslation('levels');
  const lookOf = useLevelLook();
  const others = levels.filter(({ name }) => name !== level.name).toSorted((a, b) => a.rank - b.rank);
  const wordOf = (other: Level | undefined) => other && `${lookOf(other.name).word} (${other.rank})`;
  const below = wordOf(others.findLast(({ rank }) => rank <= level.rank));
  const above = wordOf(others.find(({ rank }) => rank > level.rank));
  if (below && above) return t('rankBetween', { below, above });
  return below ? t('rankAbove', { below }) : t('rankBelow', { above: above ?? '' });
}

/** Any colour may be chosen: panels adjust it until it can be read. */
function ContrastNote({ level: { name, color } }: { level: Level }) {
  const { t } = useTranslation('levels');
  const dark = shownColor(color, 'dark');
  const light = shownColor(color, 'light');
  if (isBuiltIn(name) && builtInStyles[name].color === color)
    return <p className={styles.note}>{t('contrastOwn')}</p>;
  if (dark === color && light === color) return <p className={styles.note}>{t('contrastFine')}</p>;
  return (
    <p className={styles.note}>
      {t('contrastAdjusted')} <Swatch color={dark} /> {t('scheme.dark')}, <Swatch color={light} />{' '}
      {t('scheme.light')}
    </p>
  );
}

function Swatch({ color }: { color: string }) {
  return (
    <span className={styles.swatch}>
      <i style={{ backgroundColor: color }} />
      <span className="mono">{color}</span>
    </span>
  );
}

/** One of the icons that panels can draw: a group of radio buttons. */
function IconField({ value, onChange }: Field<LevelValues['icon']>) {
  const { t } = useTranslation('levels');
  const name = useId();
  return (
    <Input.Wrapper label={t('icon')} description={t('iconHint')} labelElement="div" id={name}>
      <div role="radiogroup" aria-labelledby={`${name}-label`} className={styles.icons}>
        {levelIcons.map((icon) => (
          <label key={icon} title={icon} className={icon === value ? styles.iconChosen : styles.icon}>
            <input
              type="radio"
              className="hidden"
              name={name}
              checked={icon === value}
              onChange={() => onChange(icon)}
              aria-label={icon}
            />
            <Icon paths={iconPaths[icon] ?? []} size={18} />
          </label>
        ))}
      </div>
    </Input.Wrapper>
  );
}

/** The fields of a level, and what is wrong with them. */

interface LevelValues extends Omit<Required<LevelPut>, 'rank'> {
  readonly rank: number | string;
}

const levelValuesOf = ({ repeatMs = 0, acknowledgeForMs = 0, ...level }: Level): LevelValues => {
  const { rank, color, icon, sound, durationMs } = level;
  return { rank, color, icon, sound, durationMs, repeatMs, acknowledgeForMs };
};

/** By field, as the key of its text. */
const problemsOf = ({ rank, color, durationMs, repeatMs, acknowledgeForMs }: LevelValues) => ({
  ...(!isWithin(rank, 0, 1_000) && { rank: 'rankWrong' as const }),
  ...(!/^#[0-9a-f]{6}$/.test(color) && { color: 'colorWrong' as const }),
  ...(!(durationMs >= 0 && durationMs <= limits.ttlMaxMs) && { durationMs: 'durationWrong' as const }),
  ...(!(repeatMs === 0 || (repeatMs >= 5_000 && repeatMs <= 86_400_000)) && {
    repeatMs: 'repeatWrong' as const,
  }),
  ...(!isAcknowledgeTime(acknowledgeForMs) && { acknowledgeForMs: 'acknowledgeWrong' as const }),
});

/** The level with the fields that are right; the others stay as they were. */
function levelOf(saved: Level, values: LevelValues): Level {
  const problems = problemsOf(values);
  return {
    ...saved,
    icon: values.icon,
    sound: values.sound,
    ...(!problems.rank && { rank: Number(values.rank) }),
    ...(!problems.color && { color: values.color }),
    ...(!problems.durationMs && { durationMs: values.durationMs }),
    ...(!problems.repeatMs && { repeatMs: values.repeatMs }),
    ...(!problems.acknowledgeForMs && { acknowledgeForMs: values.acknowledgeForMs }),
  };
}
