import openIcon from 'virtual:icon/external-link';
import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Icon } from '#web/dashboard/components/icon.tsx';

/** Opens a panel in a new tab of this browser. */
export function OpenPanelButton() {
  const { t } = useTranslation('panels');
  return (
    <Button
      component="a"
      href="/panel"
      target="_blank"
      rel="noopener"
      leftSection={<Icon paths={openIcon} />}
    >
      {t('openHere')}
    </Button>
  );
}
