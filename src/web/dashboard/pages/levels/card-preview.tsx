import playIcon from 'virtual:icon/player-play';
import silentIcon from 'virtual:icon/volume-off';
import { iconPaths } from 'virtual:icons';
import { Button } from '@mantine/core';
import { type CSSProperties, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Level } from '#contract/routing/level.ts';
import type { LevelStyle } from '#contract/routing/level-styles.ts';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { levelLook } from '#web/level-look.ts';
import { playOnce } from '#web/sound.ts';
import styles from './levels.module.css';

/** From this rank on a card is filled, as on a panel. */
const filledRank = 50;

interface PreviewOptions {
  readonly level: Level;
  readonly scheme: 'dark' | 'light';
}

function useLook({ level, scheme }: PreviewOptions) {
  const { t } = useTranslation();
  const look = levelLook(level.name, level, scheme, (builtIn) => t(`level.${builtIn as 'info'}`));
  const isFilled = level.rank >= filledRank;
  const style = { '--c': isFilled ? '#fff' : look.color, '--fill': look.fill } as CSSProperties;
  return { look, isFilled, style, icon: iconPaths[look.icon] ?? iconPaths.bell ?? [] };
}

/** A level's mark as panels show it, in both schemes. */
export function LevelStubs({ level }: { level: Level }) {
  return (
    <span className={styles.stubs} aria-hidden="true">
      <LevelStub level={level} scheme="dark" />
      <LevelStub level={level} scheme="light" />
    </span>
  );
}

function LevelStub(options: PreviewOptions) {
  const { look, isFilled, style, icon } = useLook(options);
  return (
    <span className={`${options.scheme} ${isFilled ? styles.filledStub : styles.stub}`} style={style}>
      <Icon paths={icon} size={14} />
      <span>{look.word}</span>
    </span>
  );
}

/** A card of the level as panels show it, in both schemes. */
export function CardPreviews({ level }: { level: Level }) {
  return (
    <div className={styles.previews}>
      <CardPreview level={level} scheme="dark" />
      <CardPreview level={level} scheme="light" />
    </div>
  );
}

function CardPreview(options: PreviewOptions) {
  const { t } = useTranslation('levels');
  const { look, isFilled, style, icon } = useLook(options);
  const { durationMs } = options.level;
  return (
    <div className={`${options.scheme} ${styles.wall}`}>
      <div className={isFilled ? styles.filledCard : styles.card} style={style}>
        <div className={styles.head}>
          <Icon paths={icon} size={16} />
          <span>{look.word}</span>
          <em>{t('sampleAge')}</em>
        </div>
        <strong>{t('sampleTitle')}</strong>
        <p>{t('sampleMessage')}</p>
        <p className="mono">db-01.internal</p>
        {durationMs > 0 && (
          <div className={styles.ttl}>
            <i />
          </div>
        )}
      </div>
      <span className={styles.scheme}>{t(`scheme.${options.scheme}`)}</span>
    </div>
  );
}

/** Names a sound, and plays it. */
export function SoundButton({ sound, level }: { sound: LevelStyle['sound']; level: string }) {
  const { t } = useTranslation('levels');
  const [playing, setPlaying] = useState(false);
  if (sound === 'none') {
    return (
      <span className={styles.silent}>
        <Icon paths={silentIcon} size={14} />
        {t('sound.none')}
      </span>
    );
  }
  const play = async () => {
    setPlaying(true);
    const lastsMs = await playOnce(sound);
    setTimeout(() => setPlaying(false), lastsMs ?? 0);
  };
  return (
    <Button
      size="compact-xs"
      variant="subtle"
      leftSection={<Icon paths={playIcon} size={14} />}
      {...(playing && { 'data-disabled': true })}
      aria-disabled={playing}
      aria-label={t('play', { sound: t(`sound.${sound}`), level })}
      onClick={() => void (playing || play())}
    >
      {t(`sound.${sound}`)}
    </Button>
  );
}
