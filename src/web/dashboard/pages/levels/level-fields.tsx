import { iconPaths } from 'virtual:icons';
import { ColorInput, Group, Input, NumberInput, Select, Stack } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/routing/level.ts';
import { builtInStyles, levelIcons, levelSounds } from '#contract/routing/level-styles.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { DurationField } from '#web/dashboard/fields/duration-field.tsx';
import type { Field } from '#web/dashboard/fields/field.ts';
import { SegmentedField } from '#web/dashboard/fields/segmented-field.tsx';
import { shownColor } from '#web/level-look.ts';
import { CardPreviews, SoundButton } from './card-preview.tsx';
import { type LevelValues, levelOf } from './level-values.ts';
import styles from './levels.module.css';

export const isBuiltIn = (name: string): name is keyof typeof builtInStyles =>
  Object.hasOwn(builtInStyles, name);

const swatches = [...Object.values(builtInStyles).map(({ color }) => color), '#a78bfa', '#2dd4bf', '#97a3b6'];
const defaultDurationMs = 30_000;
const defaultRepeatMs = 60_000;

/** The fields of a level's style, below a preview of the level on a panel. */
export function LevelFields({
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
  const { durationMs, sound, repeatMs } = form.values;
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
