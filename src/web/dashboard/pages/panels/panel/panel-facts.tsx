import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panel.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Facts } from '#web/dashboard/pieces/facts.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';

/** How a panel is set, for those who may look. */
export function PanelFacts({ panel: { tags, location, display, createdAt } }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const formats = useFormats();
  const tenant = useTenant();
  const span = (from: string | undefined, until: string | undefined) =>
    from !== undefined && until !== undefined ? `${from}–${until}` : t('never');
  return (
    <Facts
      of={[
        [t('tags'), tags.length === 0 ? t('none', { ns: 'shell' }) : tags.join(', ')],
        [t('location'), <bdi key="location">{location ?? t('none', { ns: 'shell' })}</bdi>],
        [t('scheme'), t(`scheme.${display.scheme ?? 'dark'}`)],
        [t('scale'), `${Math.round((display.scale ?? 1) * 100)} %`],
        [t('maxCards'), display.maxCards ?? t('maxCardsNone')],
        [
          t('minLevel'),
          display.minLevel ? <LevelMark key="level" name={display.minLevel} /> : t('minLevelAll'),
        ],
        [t('sound'), t(display.sound === false ? 'soundOff' : 'soundOn')],
        [t('quietHours'), span(display.quietFrom, display.quietUntil)],
        [t('dim'), span(display.dimFrom, display.dimUntil)],
        [t('timeZone'), display.timeZone ?? tenant.timeZone],
        [t('locale'), display.locale ?? t('localeBrowser')],
        [t('created'), formats.dateTime(createdAt)],
      ]}
    />
  );
}
