import muteIcon from 'virtual:icon/bell-off';
import ruleIcon from 'virtual:icon/route';
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { showToast } from '#web/dashboard/components/notice.tsx';
import { whenOfSearch } from '#web/dashboard/query/search-when.ts';
import styles from './list-page.module.css';

/** Opens the rule editor with the conditions of a search; says why it does not for a role that may not, and without a search. */
export function useRuleFromSearch(q: string): () => void {
  const { t } = useTranslation('history');
  const { name, may } = useTenant();
  const navigate = useNavigate();
  return () => {
    if (!may('admin')) return void showToast({ message: t('mayNotMakeRule') });
    if (q === '') return void showToast({ message: t('ruleNeedsSearch') });
    void navigate({ to: '/t/$tenant/rules', params: { tenant: name }, search: { fromSearch: q } });
  };
}

/** Opens the rule editor with a rule that mutes what a search finds; says why it does not, as above. */
export function useMuteSearch(q: string): () => void {
  const { t } = useTranslation('history');
  const { name, may } = useTenant();
  const navigate = useNavigate();
  const levels = useLevels();
  return () => {
    if (!may('admin')) return void showToast({ message: t('mayNotMute') });
    // Without a condition it would mute everything.
    if (Object.keys(whenOfSearch(q, levels).when).length === 0)
      return void showToast({ message: t('muteNeedsSearch') });
    void navigate({ to: '/t/$tenant/rules', params: { tenant: name }, search: { muteSearch: q } });
  };
}

/** Only for those who may create rules. */
export function MuteSearch({ q }: { q: string }) {
  const { t } = useTranslation('history');
  const { may } = useTenant();
  const open = useMuteSearch(q);
  if (!may('admin')) return null;
  return (
    <Button
      className={styles.tool}
      aria-label={t('muteThese')}
      aria-keyshortcuts="Shift+M"
      title={t('muteThese')}
      onClick={open}
    >
      <Icon paths={muteIcon} />
    </Button>
  );
}

/** Only for those who may create rules. */
export function RuleFromSearch({ q }: { q: string }) {
  const { t } = useTranslation('history');
  const { may } = useTenant();
  const open = useRuleFromSearch(q);
  if (!may('admin')) return null;
  return (
    <Button
      className={styles.tool}
      aria-label={t('ruleFromSearch')}
      aria-keyshortcuts="r"
      title={t('ruleFromSearch')}
      onClick={open}
    >
      <Icon paths={ruleIcon} />
    </Button>
  );
}
