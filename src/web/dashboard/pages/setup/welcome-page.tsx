import checkIcon from 'virtual:icon/check';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { LinkButton } from '#web/dashboard/pieces/link-button.tsx';
import { Page } from '#web/dashboard/pieces/page.tsx';
import { PanelStep } from './panel-step.tsx';
import { TestStep } from './test-step.tsx';
import { TokenStep } from './token-step.tsx';
import styles from './welcome.module.css';

/** What a new owner does first. The token lives in this page alone: leaving it forgets it. */
export function WelcomePage() {
  const { t } = useTranslation('welcome');
  const tenant = useTenant();
  const [token, setToken] = useState<string>();
  const [panelReady, setPanelReady] = useState(false);
  const [arrived, setArrived] = useState(false);
  return (
    <Page
      title={t('title')}
      about={t('about')}
      actions={
        <LinkButton
          to="/t/$tenant/overview"
          params={{ tenant: tenant.name }}
          variant={arrived ? 'filled' : 'default'}
        >
          {arrived ? t('finish') : t('skip')}
        </LinkButton>
      }
    >
      <ol className={styles.steps}>
        <Step number={1} title={t('token')} done={token !== undefined}>
          <TokenStep token={token} onToken={setToken} />
        </Step>
        <Step number={2} title={t('panel')} done={panelReady}>
          <PanelStep onReady={() => setPanelReady(true)} />
        </Step>
        <Step number={3} title={t('test')} done={arrived}>
          <TestStep token={token} onArrived={() => setArrived(true)} />
        </Step>
      </ol>
    </Page>
  );
}

function Step({
  number,
  title,
  done,
  children,
}: {
  number: number;
  title: string;
  done: boolean;
  children: ReactNode;
}) {
  const { t } = useTranslation('welcome');
  return (
    <li className={styles.step}>
      <span className={done ? styles.numberDone : styles.number} aria-hidden="true">
        {done ? <Icon paths={checkIcon} size={16} /> : number}
      </span>
      <section>
        <h2>
          {title}
          {done && <span className="hidden"> ({t('done')})</span>}
        </h2>
        {children}
      </section>
    </li>
  );
}
