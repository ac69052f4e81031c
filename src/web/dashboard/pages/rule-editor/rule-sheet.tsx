import { Button, Switch, Tabs, Textarea, TextInput } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import { sentenceOf } from '#web/dashboard/api/call.ts';
import { useLevels } from '#web/dashboard/api/queries.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Confirm, SideDrawer } from '#web/dashboard/components/layers.tsx';
import { lazyPart, PartNotLoaded } from '#web/dashboard/components/lazy-part.tsx';
import { EmptyState, RoleRemark } from '#web/dashboard/components/notice.tsx';
import { useUnsavedQuestion } from '#web/dashboard/fields/edit-form.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { RuleText, useRuleWords } from '#web/dashboard/rule-text/rule-text.tsx';
import type { RulesSearch } from '#web/dashboard/search-params.ts';
import { ActionRows } from './action-rows.tsx';
import { ConditionRows } from './condition-rows.tsx';
import { draftOf, initialDraftOf, isNewRule, ruleOf, specOf } from './draft.ts';
import styles from './editor.module.css';
import { ExplainPanel } from './explain-panel.tsx';
import { ReplayPanel, useReplay } from './replay-panel.tsx';
import { SearchNotice } from './search-notice.tsx';
import { TimeRows } from './time-rows.tsx';
import { useExplain } from './use-explain.ts';
import {
  checkDays,
  type Opening,
  type RuleDraft,
  type SaveWarning,
  useRuleDraft,
  useSave,
} from './use-rule-draft.ts';

const route = getRouteApi('/signed-in/t/$tenant/rules');

/** What the address says is open: a rule, a new one, or a question. */
export function OpenRule({
  rules,
  search,
  onDelete,
}: {
  rules: readonly Rule[];
  search: RulesSearch;
  onDelete: (rule: Rule) => void;
}) {
  const { t } = useTranslation('rules');
  const { may } = useTenant();
  const navigate = route.useNavigate();
  const version = useMemo(() => rules.map(({ id, updatedAt }) => `${id} ${updatedAt}`).join(), [rules]);
  const onClose = () => void navigate({ search: {} });
  const explain = search.explain === 'typed' ? undefined : search.explain;
  const sheet = { rules, version, explain, onClose };
  const rule = rules.find(({ id }) => id === search.id);
  const levels = useLevels();
  const isNew = isNewRule(search);
  const needsLevels =
    (search.fromSearch ?? search.muteSearch ?? search.muteWhen ?? search.mute) !== undefined;
  if (isNew && may('admin'))
    return needsLevels && levels.size === 0 ? null : (
      <NewRule key={JSON.stringify(search)} search={search} levels={levels} {...sheet} />
    );
  if (search.id !== undefined && !isNew && !rule)
    return (
      <Sheet title={t('gone')} onClose={onClose}>
        <EmptyState title={t('gone')}>{t('goneAbout')}</EmptyState>
      </Sheet>
    );
  if (rule && may('admin'))
    return <RuleSheet key={rule.id} opening={{ rule }} {...sheet} onDelete={onDelete} />;
  if (rule || search.explain !== undefined)
    return <ReadOnlySheet key={`${search.id} ${search.explain}`} rule={rule} {...sheet} />;
  return null;
}

function NewRule({
  search,
  levels,
  ...sheet
}: SheetProps & { search: RulesSearch; levels: ReturnType<typeof useLevels> }) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  // Changes that others make to the list do not change what was begun.
  const [opening] = useState(() =>
    initialDraftOf(search, sheet.rules, { timeZone, levels, copyName: (name) => t('copyOf', { name }) }),
  );
  return <RuleSheet opening={opening} {...sheet} />;
}

/** A rule for those who may not change it; without one, where a notification would go. */
function ReadOnlySheet({
  rules,
  version,
  rule,
  explain: id,
  onClose,
}: SheetProps & { rule: Rule | undefined }) {
  const { t } = useTranslation('rules');
  const { timeZone } = useTenant();
  const words = useRuleWords();
  const explain = useExplain(undefined, { version, enabled: true, id });
  const panel = <ExplainPanel explain={explain} rules={rules.map(specOf)} words={words} own={rule?.id} />;
  return (
    <Sheet
      title={rule?.name ?? t('explain.title')}
      onClose={onClose}
      head={rule && <RuleText rule={rule} words={words} />}
    >
      <div className={styles.single}>
        {rule ? (
          <>
            <RoleRemark what="mayNot" />
            {rule.note !== '' && <p className={styles.note}>{rule.note}</p>}
            <TryTabs explain={panel} json={<JsonPanel rule={ruleOf(draftOf(rule, timeZone), rule.name)} />} />
          </>
        ) : (
          panel
        )}
      </div>
    </Sheet>
  );
}

/** It brings the contract's schema, which nothing else here needs. */
const JsonPanel = lazyPart(async () => (await import('./json-panel.tsx')).JsonPanel, PartNotLoaded);

interface SheetProps {
  readonly rules: readonly Rule[];
  /** Of the rules in force. */
  readonly version: string;
  /** The id of the notification to explain. */
  readonly explain: string | undefined;
  readonly onClose: () => void;
}

/** A rule's editor: its sentence above, the form, and beside it what the rule would do. */
function RuleSheet({
  opening,
  onDelete,
  ...props
}: SheetProps & { opening: Opening; onDelete?: (rule: Rule) => void }) {
  const { t } = useTranslation('rules');
  const { rules, onClose } = props;
  const words = useRuleWords();
  const draft = useRuleDraft(opening, { ...props, words });
  const replay = useReplay();
  const { question, leave } = useUnsavedQuestion(draft.isChanged);
  const save = useSave(draft, replay, () => leave(onClose));
  const number = rules.findIndex(({ id }) => id === draft.id) + 1;
  const { rule, otherError } = draft;
  return (
    <Sheet
      isWide
      title={draft.isNew ? t('newRule') : t('ruleNumber', { number })}
      onClose={onClose}
      head={<RuleText rule={rule} words={words} />}
      foot={
        <>
          {'rule' in opening && onDelete && (
            <Button variant="subtle" color="error" onClick={() => onDelete(opening.rule)}>
              {t('deleteAsk')}
            </Button>
          )}
          <span role="status" className={otherError ? styles.error : styles.status}>
            {otherError ?? (save.isBusy ? t('checking', { count: checkDays }) : '')}
          </span>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button type="submit" form="rule-form" variant="filled" loading={save.isBusy}>
            {t('save')}
          </Button>
        </>
      }
    >
      <div className={styles.columns}>
        <form
          className={styles.left}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void save.check();
          }}
          id="rule-form"
        >
          {'draft' in opening && <SearchNotice {...opening} />}
          <RuleForm draft={draft} rules={rules} />
        </form>
        <div className={styles.right}>
          <TryTabs
            explain={
              <ExplainPanel
                explain={draft.explain}
                rules={draft.ruleSet}
                words={words}
                own={draft.id}
                isWaiting={!draft.isComplete || draft.isInvalid}
              />
            }
            replay={<ReplayPanel replay={replay} rules={draft.ruleSet} canRun={draft.isComplete} />}
            json={<JsonPanel rule={rule} onRule={draft.take} />}
          />
        </div>
      </div>
      {question}
      {save.warning && <SaveQuestion warning={save.warning} onClose={save.forgetWarning} />}
    </Sheet>
  );
}

/** The ways to try a rule, a tab each. */
function TryTabs(panels: { explain: ReactNode; replay?: ReactNode; json: ReactNode }) {
  const { t } = useTranslation('rules');
  const tabs = [
    ['explain', t('explain')],
    ['replay', t('replay.tab')],
    ['json', 'JSON'],
  ] as const;
  const shown = tabs.filter(([name]) => panels[name]);
  return (
    <Tabs defaultValue="explain" keepMounted={false}>
      <Tabs.List className={styles.tabs}>
        {shown.map(([name, title]) => (
          <Tabs.Tab key={name} value={name}>
            {title}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {shown.map(([name]) => (
        <Tabs.Panel key={name} value={name} className={styles.tab}>
          {panels[name]}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

/** Asks before a rule is saved that changes much, or could not be checked. */
function SaveQuestion({ warning, onClose }: { warning: SaveWarning; onClose: () => void }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const { result, error, saveAnyway } = warning;
  const confirm = { action: t('saveAnyway'), onConfirm: saveAnyway, onClose };
  if (!result)
    return (
      <Confirm title={t('unchecked')} {...confirm}>
        {error === undefined
          ? t('uncheckedSlow', { count: checkDays })
          : t('uncheckedFailed', { count: checkDays, reason: sentenceOf(error) })}
      </Confirm>
    );
  const { changed, considered, changes } = result;
  return (
    <Confirm
      title={t('largeChange', { count: changed, number: formats.number(changed), days: checkDays })}
      {...confirm}
    >
      <p>{t('largeChangeAbout', { number: formats.number(considered) })}</p>
      <ul>
        {Object.entries(changes)
          .filter(([, count]) => count > 0)
          .map(([change, count]) => (
            <li key={change}>
              {formats.number(count)} {t(`replay.kind.${change as 'muted'}`, { count })}
            </li>
          ))}
      </ul>
    </Confirm>
  );
}

/** A drawer whose head and foot stay in sight while its content scrolls. */
function Sheet({
  title,
  isWide = false,
  head,
  foot,
  onClose,
  children,
}: {
  title: string;
  isWide?: boolean;
  head?: ReactNode;
  foot?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  const { content = '', header = '', body = '' } = styles;
  return (
    <SideDrawer
      onClose={onClose}
      size={isWide ? 1120 : 520}
      title={title}
      classNames={{ content, header, body }}
    >
      {head && <div className={styles.head}>{head}</div>}
      <div className={styles.scroll}>{children}</div>
      {foot && <div className={styles.foot}>{foot}</div>}
    </SideDrawer>
  );
}

/** The fields of a rule, in the order of its sentence. */
function RuleForm({ draft, rules }: { draft: RuleDraft; rules: readonly Rule[] }) {
  const { t } = useTranslation('rules');
  const { fields, change, problems } = draft;
  return (
    <div className={styles.form}>
      <section className={styles.part} aria-label={t('part.sentence')}>
        <ConditionRows
          value={fields.conditions}
          onChange={(conditions) => change({ conditions })}
          problems={problems}
        />
        <ActionRows
          then={fields.then}
          onChange={(then) => change({ then })}
          conditions={fields.conditions}
          activeUntil={fields.activeUntil}
          onEnd={(activeUntil) => change({ activeUntil })}
          problems={problems}
        />
        <div className={styles.row}>
          <span className={styles.lead}>{t('lead.then')}</span>
          <Switch
            size="sm"
            checked={fields.continue}
            onChange={({ currentTarget }) => change({ continue: currentTarget.checked })}
            label={t('goOn')}
            description={t(fields.continue ? 'goOnAbout' : 'stopAbout')}
            mt={8}
          />
        </div>
      </section>
      <section className={styles.part}>
        <h3>{t('part.times')}</h3>
        <TimeRows
          times={fields}
          onChange={change}
          problems={problems}
          endIsElsewhere={fields.then.mute === true}
        />
      </section>
      <section className={styles.about}>
        <TextInput
          label={t('name')}
          placeholder={draft.suggestedName}
          description={fields.name.trim() === '' && t('nameAbout')}
          maxLength={100}
          value={fields.name}
          onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          error={problems.at('name')?.text}
        />
        <Textarea
          label={t('note')}
          placeholder={t('noteAbout')}
          maxLength={2_000}
          rows={2}
          value={fields.note}
          onChange={({ currentTarget }) => change({ note: currentTarget.value })}
          error={problems.at('note')?.text}
        />
        {draft.isNew && rules.length > 0 && (
          <PlaceField rules={rules} place={draft.place} onChange={draft.setPlace} />
        )}
        <Switch
          checked={fields.enabled}
          onChange={({ currentTarget }) => change({ enabled: currentTarget.checked })}
          label={t('enabled')}
        />
      </section>
    </div>
  );
}

/** The place of a new rule. It matters: the first rule that matches and does not continue is the last that is tried. */
function PlaceField({
  rules,
  place,
  onChange,
}: {
  rules: readonly Rule[];
  place: number;
  onChange: (place: number) => void;
}) {
  const { t } = useTranslation('rules');
  const last = rules.length;
  const between = place > 0 && place < last ? rules[place - 1] : undefined;
  return (
    <label className={styles.place}>
      {t('place')}
      <select
        className={styles.select}
        value={place}
        onChange={({ target }) => onChange(Number(target.value))}
      >
        <option value={0}>{t('placeFirst')}</option>
        {between && <option value={place}>{t('placeAfter', { number: place, name: between.name })}</option>}
        <option value={last}>{t('placeLast')}</option>
      </select>
    </label>
  );
}
