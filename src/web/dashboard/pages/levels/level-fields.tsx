import { iconPaths } from 'virtual:icons';
import { ColorInput, NumberInput, SegmentedControl, Select } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/level.ts';
import { builtInStyles, type LevelStyle, levelIcons, levelSounds } from '#contract/level-styles.ts';
import { type DurationUnit, durationUnits } from '#web/dashboard/components/duration.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useLevelLook } from '#web/dashboard/components/level-mark.tsx';
import { shownColor } from '#web/level-look.ts';
import { CardPreview, SoundButton } from './card-preview.tsx';
import { type LevelDraft, levelOf, problemsOf } from './level-draft.ts';
import styles from './levels.module.css';

const isBuiltIn = (name: string): name is keyof typeof builtInStyles => Object.hasOwn(builtInStyles, name);
const swatches = [...Object.values(builtInStyles).map(({ color }) => color), '#a78bfa', '#2dd4bf', '#97a3b6'];

interface FieldsOptions {
  /** As it is saved. */
  readonly level: Level;
  readonly levels: readonly Level[];
  readonly draft: LevelDraft;
  readonly onChange: (some: Partial<LevelDraft>) => void;
}

/** A level's looks, with what a panel makes of them while one chooses. */
export function LevelFields({ level, levels, draft, onChange }: FieldsOptions) {
  const { t } = useTranslation('levels');
  const problems = problemsOf(draft);
  const shown = levelOf(level, draft);
  return (
    <div className={styles.fields}>
      <div className={styles.previews}>
        <CardPreview level={shown} scheme="dark" />
        <CardPreview level={shown} scheme="light" />
      </div>
      <NumberInput
        label={t('rank')}
        description={<RankHint level={shown} levels={levels} />}
        min={0}
        max={1_000}
        clampBehavior="none"
        allowDecimal={false}
        value={draft.rank}
        error={problems.rank && t(problems.rank)}
        onChange={(rank) => onChange({ rank })}
      />
      <div>
        <ColorInput
          label={t('color')}
          description={t('colorHint')}
          format="hex"
          swatches={swatches}
          swatchesPerRow={8}
          withEyeDropper={false}
          value={draft.color}
          error={problems.color && t(problems.color)}
          onChange={(color) => onChange({ color: color.toLowerCase() })}
        />
        <ContrastNote level={shown} />
      </div>
      <IconField value={draft.icon} onChange={(icon) => onChange({ icon })} />
      <div className={styles.soundField}>
        <Select
          label={t('sound')}
          description={t('soundHint')}
          data={levelSounds.map((sound) => ({ value: sound, label: t(`sound.${sound}`) }))}
          value={draft.sound}
          allowDeselect={false}
          onChange={(sound) => sound !== null && onChange({ sound: sound as LevelDraft['sound'] })}
        />
        <SoundButton sound={draft.sound} level={level.name} />
      </div>
      <DurationField
        value={draft.duration}
        error={problems.duration && t(problems.duration)}
        onChange={(duration) => onChange({ duration })}
      />
    </div>
  );
}

/** Between which others it stands. */
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

/** Any colour may be chosen: what is shown of it can be read. */
function ContrastNote({ level: { name, color } }: { level: Level }) {
  const { t } = useTranslation('levels');
  if (isBuiltIn(name) && builtInStyles[name].color === color)
    return <p className={styles.note}>{t('contrastOwn')}</p>;
  const dark = shownColor(color, 'dark');
  const light = shownColor(color, 'light');
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

function DurationField({
  value,
  error,
  onChange,
}: {
  value: LevelDraft['duration'];
  error: string | undefined;
  onChange: (duration: LevelDraft['duration']) => void;
}) {
  const { t } = useTranslation('levels');
  const id = useId();
  return (
    <div>
      <div className="mantine-InputWrapper-label" id={id}>
        {t('duration')}
      </div>
      <p className={styles.about}>{t('durationHint')}</p>
      <SegmentedControl
        fullWidth
        aria-labelledby={id}
        value={value.endless ? 'cleared' : 'time'}
        onChange={(kind) => onChange({ ...value, endless: kind === 'cleared' })}
        data={(['time', 'cleared'] as const).map((kind) => ({ value: kind, label: t(`duration.${kind}`) }))}
      />
      {!value.endless && (
        <div className={styles.amount}>
          <NumberInput
            aria-label={t('duration')}
            min={0}
            clampBehavior="none"
            value={value.amount}
            error={error}
            onChange={(amount) => onChange({ ...value, amount })}
          />
          <Select
            aria-label={t('unit')}
            data={Object.keys(durationUnits).map((unit) => ({
              value: unit,
              label: t(`unit.${unit as DurationUnit}`),
            }))}
            value={value.unit}
            allowDeselect={false}
            onChange={(unit) => unit !== null && onChange({ ...value, unit: unit as DurationUnit })}
          />
        </div>
      )}
    </div>
  );
}

/** One of the icons that panels can draw; arrows move between them, as in any group of radio buttons. */
function IconField({
  value,
  onChange,
}: {
  value: LevelStyle['icon'];
  onChange: (icon: LevelStyle['icon']) => void;
}) {
  const { t } = useTranslation('levels');
  const name = useId();
  return (
    <fieldset className={styles.icons}>
      <legend>{t('icon')}</legend>
      <p className={styles.about}>{t('iconHint')}</p>
      <div>
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
    </fieldset>
  );
}
