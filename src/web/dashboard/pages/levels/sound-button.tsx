import playIcon from 'virtual:icon/player-play';
import silentIcon from 'virtual:icon/volume-off';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LevelStyle } from '#contract/level-styles.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { playOnce } from '#web/sound.ts';
import styles from './levels.module.css';

/** Says which sound it is, and plays it. */
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
