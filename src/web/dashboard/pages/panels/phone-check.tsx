/** What to do once a phone is connected: let it ring, and see which rules send to it. */
import { Button, Stack } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Panel } from '#contract/panels/panel.ts';
import type { Rule } from '#contract/routing/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { panelPath } from '#web/dashboard/api/queries.ts';
import { rulesQuery } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import styles from './panels.module.css';

/** A test alarm, for this phone alone. */
export function PhoneTest({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const { api } = useTenant();
  const test = useMutation({ mutationFn: () => api.post<TestResult>(`${panelPath(panel.id)}/test`) });
  return (
    <Stack className={styles.part} gap="xs" align="flex-start">
      <Button loading={test.isPending} onClick={() => test.mutate()}>
        {t('phoneTest')}
      </Button>
      <p role="status" className="muted">
        {test.error ? sentenceOf(test.error) : t(test.data ? outcomeOf(test.data) : 'phoneTestAbout')}
      </p>
    </Stack>
  );
}

interface TestResult {
  /** The phone is connected now. */
  readonly reached: boolean;
  /** false: it makes no sound now, because of its quiet hours or lowest level. */
  readonly rings?: boolean;
}

function outcomeOf({ reached, rings = true }: TestResult) {
  if (!rings) return 'phoneTestedQuiet';
  return reached ? 'phoneTested' : 'phoneTestedLater';
}

/** The rules that send to a phone. */
export function PhoneRules({ panel }: { panel: Panel }) {
  const { t } = useTranslation('panels');
  const tenant = useTenant();
  const { data: rules } = useQuery(rulesQuery(tenant));
  if (!rules) return null;
  const naming = rulesTo(panel, rules);
  return (
    <section className={styles.part} aria-labelledby="phone-rules">
      <h3 id="phone-rules">{t('phoneGets')}</h3>
      {naming.length === 0 ? (
        <p className="muted">{t('phoneGetsNone')}</p>
      ) : (
        <ul>
          {naming.slice(0, mostShown).map(({ id, name }) => (
            <li key={id}>
              <Link to="/t/$tenant/rules" params={{ tenant: tenant.name }} search={{ id }}>
                <bdi>{name}</bdi>
              </Link>
            </li>
          ))}
        </ul>
      )}
      {naming.length > mostShown && (
        <p className="muted">{t('andMore', { count: naming.length - mostShown })}</p>
      )}
      <Link to="/t/$tenant/rules" params={{ tenant: tenant.name }} search={{}}>
        {t('phoneRules')}
      </Link>
    </section>
  );
}

const mostShown = 5;

/** Those that name the panel or one of its tags, also in the steps of an escalation. */
export const rulesTo = ({ id, tags }: Pick<Panel, 'id' | 'tags'>, rules: readonly Rule[]): readonly Rule[] =>
  rules.filter(
    ({ enabled, then }) =>
      enabled &&
      [then, ...(then.escalate ?? [])].some(
        ({ panels }) =>
          typeof panels === 'object' &&
          ('ids' in panels ? panels.ids.includes(id) : panels.tags.some((tag) => tags.includes(tag))),
      ),
  );
