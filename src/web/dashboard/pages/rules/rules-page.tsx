import rulesIcon from 'virtual:icon/route';
import explainIcon from 'virtual:icon/zoom-question';
import { Button, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule, RulePatch } from '#contract/routing/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { rulesQuery, useRuleChanges } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { Confirm } from '#web/dashboard/components/layers.tsx';
import { EmptyState, ErrorNotice, showFailure } from '#web/dashboard/components/notice.tsx';
import { CreateButton, Page } from '#web/dashboard/components/page.tsx';
import { useNow } from '#web/dashboard/formats/use-formats.tsx';
import { type RuleWords, ruleSentence, sentenceText } from '#web/dashboard/rule-text/rule-sentence.ts';
import { RuleText, useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import { exampleDraft, examples, ruleOf } from '../rule-editor/draft.ts';
import { OpenRule } from '../rule-editor/rule-sheet.tsx';
import { Mutes } from './mutes.tsx';
import { RuleList } from './rule-list.tsx';
import styles from './rules.module.css';

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

/** The empty state, with examples. */
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

/** Moves within this time are saved together. */
const settleMs = 400;

interface RuleOrder {
  /** The rules in the wanted order, saved or not. */
  readonly rules: readonly Rule[];
  readonly error: unknown;
  /** Moves a rule to an index. The list changes at once and is saved soon after; if saving fails, the move is undone. */
  move(id: string, place: number): void;
  forgetError(): void;
}

function useRuleOrder(known: readonly Rule[]): RuleOrder {
  const tenant = useTenant();
  const client = useQueryClient();
  const [wanted, setWanted] = useState<readonly string[]>();
  const [error, setError] = useState<unknown>();
  const latest = useRef(wanted);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const isSaving = useRef(false);
  const { mutateAsync } = useMutation({
    mutationFn: (ids: readonly string[]) => tenant.api.put<{ rules: Rule[] }>('/api/rules/order', { ids }),
  });

  const want = (ids: readonly string[] | undefined) => {
    latest.current = ids;
    setWanted(ids);
  };
  const save = async () => {
    timer.current = undefined;
    const ids = latest.current;
    if (!ids || isSaving.current) return;
    isSaving.current = true;
    try {
      const { rules } = await mutateAsync(ids);
      client.setQueryData(rulesQuery(tenant).queryKey, rules);
      if (latest.current === ids) want(undefined);
    } catch (reason) {
      want(undefined);
      setError(reason);
      void client.invalidateQueries({ queryKey: rulesQuery(tenant).queryKey, exact: true });
    }
    isSaving.current = false;
    if (latest.current) void save();
  };
  const saveLatest = useRef(save);
  saveLatest.current = save;
  // A move is saved even if the person leaves the page at once.
  useEffect(
    () => () => {
      if (timer.current === undefined) return;
      clearTimeout(timer.current);
      void saveLatest.current();
    },
    [],
  );

  const rules = useMemo(() => (wanted ? inOrder(known, wanted) : known), [known, wanted]);
  return {
    rules,
    error,
    forgetError: () => setError(undefined),
    move(id, place) {
      const ids = rules.map((rule) => rule.id).filter((each) => each !== id);
      ids.splice(place, 0, id);
      setError(undefined);
      want(ids);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void saveLatest.current(), settleMs);
    },
  };
}

/** Rules that the order does not contain, because they are new, come last. */
function inOrder(rules: readonly Rule[], ids: readonly string[]): readonly Rule[] {
  const places = new Map(ids.map((id, place) => [id, place]));
  return rules.toSorted((a, b) => (places.get(a.id) ?? ids.length) - (places.get(b.id) ?? ids.length));
}
