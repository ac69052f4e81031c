import rulesIcon from 'virtual:icon/route';
import explainIcon from 'virtual:icon/zoom-question';
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useDeferredValue, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule, RulePatch } from '#contract/routing/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { rulesQuery, useRuleChanges } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Confirm } from '#web/dashboard/components/layers.tsx';
import { EmptyState, ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { showFailure } from '#web/dashboard/components/toast.tsx';
import { useNow } from '#web/dashboard/formats/ago.tsx';
import { type RuleWords, ruleSentence } from '#web/dashboard/rule-text/rule-sentence.ts';
import { RuleText, useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import { sentenceText } from '#web/dashboard/rule-text/sentence.ts';
import { ruleOf } from '../rule-editor/draft.ts';
import { exampleDraft, examples } from '../rule-editor/initial-draft.ts';
import { OpenRule } from '../rule-editor/open-rule.tsx';
import { Mutes } from './mutes.tsx';
import { RuleList } from './rule-list.tsx';
import { type RuleOrder, useRuleOrder } from './rule-order.ts';
import styles from './rules-page.module.css';

const route = getRouteApi('/signed-in/t/$tenant/rules');
const refreshMs = 15_000;
/** A list this short needs no filter. */
const fewRules = 8;

export function RulesPage() {
  const { t } = useTranslation('rules');
  const tenant = useTenant();
  const navigate = route.useNavigate();
  const search = route.useSearch();
  const { data, error, refetch } = useQuery({ ...rulesQuery(tenant), refetchInterval: refreshMs });
  const order = useRuleOrder(data ?? none);
  const mayEdit = tenant.may('admin');
  const [removing, setRemoving] = useState<readonly Rule[]>();
  const { remove } = useRuleChanges();
  return (
    <Page
      title={t('rules')}
      about={t('about')}
      wide
      actions={
        <>
          <Button
            leftSection={<Icon paths={explainIcon} />}
            onClick={() => void navigate({ search: { explain: 'typed' } })}
          >
            {t('explain')}
          </Button>
          {mayEdit && (
            <CreateButton onClick={() => void navigate({ search: { id: 'new' } })}>
              {t('newRule')}
            </CreateButton>
          )}
        </>
      }
    >
      {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton />}
      {data && <Rules order={order} onRemove={setRemoving} />}
      {data && <OpenRule rules={order.rules} search={search} onDelete={(rule) => setRemoving([rule])} />}
      {removing && (
        <RemoveQuestion
          rules={removing}
          onConfirm={async () => {
            await remove(removing.map(({ id }) => id));
            await navigate({ search: {}, ignoreBlocker: true });
          }}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </Page>
  );
}

const none: readonly Rule[] = [];

function Rules({ order, onRemove }: { order: RuleOrder; onRemove: (rules: readonly Rule[]) => void }) {
  const { t } = useTranslation('rules');
  const { may } = useTenant();
  const navigate = route.useNavigate();
  const words = useRuleWords();
  const now = useNow(5_000);
  const { change } = useRuleChanges();
  const filter = useFilter(order.rules, words);
  const numbers = useMemo(() => new Map(order.rules.map(({ id }, i) => [id, i + 1])), [order.rules]);
  // Not at the top of the page: on a phone the switch may be far below it.
  const attempt = (doing: Promise<unknown>) =>
    void doing.catch((error) => showFailure({ title: t('changeFailed'), message: sentenceOf(error) }));
  if (order.rules.length === 0) return <EmptyRules words={words} />;
  return (
    <>
      {order.error !== undefined && (
        <div className={styles.notice}>
          <ErrorNotice error={order.error} title={t('orderFailed')} />
        </div>
      )}
      <Mutes
        rules={order.rules}
        words={words}
        now={now}
        onEnd={(rule) => attempt(change(rule.id, endOf(rule)))}
        onClear={onRemove}
      />
      {order.rules.length > fewRules && (
        <TextInput
          className={styles.filter ?? ''}
          size="xs"
          type="search"
          aria-label={t('filter')}
          placeholder={t('filter')}
          value={filter.text}
          onChange={({ currentTarget }) => filter.setText(currentTarget.value)}
        />
      )}
      {filter.found.length === 0 ? (
        <p className="muted">{t('noneFound')}</p>
      ) : (
        <RuleList
          rules={filter.found}
          numbers={numbers}
          words={words}
          now={now}
          canMove={may('admin') && !filter.isOn && order.rules.length > 1}
          move={order.move}
          actions={{
            open: ({ id }) => void navigate({ search: { id } }),
            toggle: ({ id, enabled }) => attempt(change(id, { enabled: !enabled })),
            duplicate: ({ id }) => void navigate({ search: { id: 'new', copy: id } }),
            remove: (rule) => onRemove([rule]),
          }}
        />
      )}
      <p className={styles.end}>
        <span className={styles.endNumber}>{order.rules.length + 1}</span>
        {t('otherwise')}
      </p>
      {may('admin') && <p className={styles.keys}>{t('keys')}</p>}
    </>
  );
}

/** A mute with an end ends now; one without is switched off. */
const endOf = ({ activeUntil }: Rule): RulePatch =>
  activeUntil === null ? { enabled: false } : { activeUntil: new Date().toISOString() };

/** Filters rules by their name, sentence or note. */
function useFilter(rules: readonly Rule[], words: RuleWords) {
  const [text, setText] = useState('');
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const found = useMemo(() => {
    if (wanted === '') return rules;
    return rules.filter((rule) =>
      `${rule.name} ${sentenceText(ruleSentence(rule, words))} ${rule.note}`.toLowerCase().includes(wanted),
    );
  }, [rules, wanted, words]);
  return { text, setText, found, isOn: wanted !== '' };
}

function RemoveQuestion({
  rules,
  onConfirm,
  onClose,
}: {
  rules: readonly Rule[];
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const { t } = useTranslation('rules');
  return (
    <Confirm
      title={t('deleteTitle', { count: rules.length, name: rules[0]?.name ?? '' })}
      action={t('deleteIt', { count: rules.length })}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t('deleteAbout')}</p>
    </Confirm>
  );
}

function Skeleton() {
  const { t } = useTranslation();
  return (
    <div className={styles.skeleton} role="status" aria-label={t('loading')}>
      {[62, 48, 71, 55, 40].map((width) => (
        <div key={width}>
          <span style={{ width: `${width / 3}%` }} />
          <span style={{ width: `${width}%` }} />
        </div>
      ))}
    </div>
  );
}

/** The empty state, with two examples. */
function EmptyRules({ words }: { words: RuleWords }) {
  const { t } = useTranslation('rules');
  const { may, timeZone } = useTenant();
  return (
    <EmptyState
      icon={rulesIcon}
      title={t('emptyTitle')}
      action={
        may('admin') && (
          <ul className={styles.examples}>
            {examples.map((name) => (
              <li key={name}>
                <Link from="/t/$tenant/rules" to="." search={{ id: 'new', example: name }}>
                  <strong>{t(`start.${name}`)}</strong>
                  <RuleText rule={ruleOf(exampleDraft(name, timeZone), '')} words={words} />
                </Link>
              </li>
            ))}
          </ul>
        )
      }
    >
      {t(may('admin') ? 'emptyAbout' : 'emptyReading')}
    </EmptyState>
  );
}
