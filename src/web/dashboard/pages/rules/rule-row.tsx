import warningIcon from 'virtual:icon/alert-triangle';
import muteIcon from 'virtual:icon/bell-off';
import hoursIcon from 'virtual:icon/calendar-time';
import goOnIcon from 'virtual:icon/corner-right-down';
import dotsIcon from 'virtual:icon/dots';
import gripIcon from 'virtual:icon/grip-vertical';
import endIcon from 'virtual:icon/hourglass';
import offIcon from 'virtual:icon/player-pause';
import trashIcon from 'virtual:icon/trash';
import { useSortable } from '@dnd-kit/sortable';
import { ActionIcon, Menu, Switch } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { isOnRow } from '#web/dashboard/components/row-table.tsx';
import type { Formats } from '#web/dashboard/formats/formats.ts';
import { Ago, useFormats } from '#web/dashboard/formats/use-formats.tsx';
import type { RuleWords } from '#web/dashboard/rule-text/rule-sentence.ts';
import { type NameWarning, RuleText } from '#web/dashboard/rule-text/rule-text.tsx';
import { isMute, ruleState } from './rule-state.ts';
import styles from './rules.module.css';

export interface RuleActions {
  open(rule: Rule): void;
  toggle(rule: Rule): void;
  duplicate(rule: Rule): void;
  remove(rule: Rule): void;
}

interface RuleRowProps {
  readonly rule: Rule;
  /** From 1, among all rules. */
  readonly number: number;
  readonly total: number;
  readonly words: RuleWords;
  readonly now: number;
  readonly canMove: boolean;
  readonly actions: RuleActions;
  readonly warnings: readonly NameWarning[];
  /** Its position in the list. */
  readonly top: number;
  readonly index: number;
  readonly measure: (element: Element | null) => void;
}

/** A rule of the list: number, name and badges, its sentence, its hits, the switch. */
export function RuleRow(props: RuleRowProps) {
  const { rule, number, total, words, now, canMove, actions, warnings, top, index, measure } = props;
  const { may } = useTenant();
  const sortable = useSortable({ id: rule.id, disabled: !canMove });
  const state = ruleState(rule, now);
  const place =
    sortable.overIndex === sortable.index &&
    sortable.activeIndex >= 0 &&
    sortable.activeIndex !== sortable.index
      ? sortable.activeIndex > sortable.index
        ? 'before'
        : 'after'
      : undefined;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row opens it by key.
    <li
      ref={(element) => {
        sortable.setNodeRef(element);
        measure(element);
      }}
      className={styles.row}
      style={{ top }}
      data-index={index}
      data-state={state}
      data-lifted={sortable.isDragging || undefined}
      data-drop={place}
      aria-setsize={total}
      aria-posinset={number}
      onClick={(event) => isOnRow(event) && actions.open(rule)}
    >
      <Handle sortable={sortable} rule={rule} canMove={canMove} />
      <span className={styles.number}>{number}</span>
      <div className={styles.main}>
        <div className={styles.head}>
          <Link
            from="/t/$tenant/rules"
            to="."
            search={{ id: rule.id }}
            className={styles.name}
            data-rule-link
          >
            <bdi>{rule.name}</bdi>
          </Link>
          <RuleBadges rule={rule} now={now} />
        </div>
        <div className={styles.sentence}>
          <RuleText rule={rule} words={words} />
        </div>
        {warnings.map(({ place, text }) => (
          <div key={place + text} className={styles.warning}>
            <Icon paths={warningIcon} size={13} />
            <span>{text}</span>
          </div>
        ))}
      </div>
      <HitCount rule={rule} />
      {may('admin') ? <Controls rule={rule} isEnded={state === 'ended'} actions={actions} /> : <span />}
    </li>
  );
}

function Handle({
  sortable,
  rule,
  canMove,
}: {
  sortable: ReturnType<typeof useSortable>;
  rule: Rule;
  canMove: boolean;
}) {
  const { t } = useTranslation('rules');
  if (!canMove) return <span />;
  return (
    <button
      type="button"
      className={styles.handle}
      ref={sortable.setActivatorNodeRef}
      {...sortable.attributes}
      {...sortable.listeners}
      aria-label={t('moveRule', { name: rule.name })}
      title={t('moveHint')}
    >
      <Icon paths={gripIcon} size={16} />
    </button>
  );
}

function HitCount({ rule: { hits, lastHitAt } }: { rule: Rule }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  return (
    <div className={styles.hits}>
      <span>{t('hits', { count: hits, number: formats.number(hits) })}</span>
      <span className="muted">{lastHitAt === null ? t('neverHit') : <Ago at={lastHitAt} />}</span>
    </div>
  );
}

function Controls({ rule, isEnded, actions }: { rule: Rule; isEnded: boolean; actions: RuleActions }) {
  const { t } = useTranslation('rules');
  return (
    <div className={styles.controls}>
      {isEnded ? (
        <ActionIcon
          size="md"
          onClick={() => actions.remove(rule)}
          aria-label={t('deleteRule', { name: rule.name })}
          title={t('delete')}
        >
          <Icon paths={trashIcon} />
        </ActionIcon>
      ) : (
        <Switch
          checked={rule.enabled}
          onChange={() => actions.toggle(rule)}
          aria-label={t('enabledOf', { name: rule.name })}
          size="xs"
        />
      )}
      <Menu width={180}>
        <Menu.Target>
          <ActionIcon size="md" aria-label={t('moreOf', { name: rule.name })}>
            <Icon paths={dotsIcon} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => actions.open(rule)}>{t('edit')}</Menu.Item>
          <Menu.Item onClick={() => actions.duplicate(rule)}>{t('duplicate')}</Menu.Item>
          <Menu.Item color="error" onClick={() => actions.remove(rule)}>
            {t('deleteAsk')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

/** Badges: the rule mutes, ends, has hours, continues, or is not active now. */
function RuleBadges({ rule, now }: { rule: Rule; now: number }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const state = ruleState(rule, now);
  const end = endText(rule, now, formats);
  return (
    <span className={styles.marks}>
      {isMute(rule) && (
        <Badge icon={muteIcon} tone={state === 'active' ? 'warning' : undefined}>
          {t('mark.mute')}
        </Badge>
      )}
      {state === 'disabled' && <Badge icon={offIcon}>{t('mark.disabled')}</Badge>}
      {state === 'early' && rule.activeFrom !== null && (
        <Badge icon={endIcon}>{t('mark.begins', { time: formats.relative(rule.activeFrom, now) })}</Badge>
      )}
      {state === 'ended' && rule.activeUntil !== null && (
        <Badge icon={endIcon}>{t('mark.ended', { time: formats.relative(rule.activeUntil, now) })}</Badge>
      )}
      {state !== 'ended' && end !== undefined && (
        <Badge icon={endIcon}>
          <span className={styles.count}>{t('mark.left', { time: end })}</span>
        </Badge>
      )}
      {rule.windows.length > 0 && (
        <Badge icon={hoursIcon}>{t(state === 'resting' ? 'mark.resting' : 'mark.windows')}</Badge>
      )}
      {rule.continue && <Badge icon={goOnIcon}>{t('mark.goesOn')}</Badge>}
    </span>
  );
}

/** The time until its end, in minutes: "2 h 14 min". */
export function endText({ activeUntil }: Pick<Rule, 'activeUntil'>, now: number, formats: Formats) {
  if (activeUntil === null) return undefined;
  const left = Date.parse(activeUntil) - now;
  if (left <= 0) return undefined;
  return formats.duration(
    left < 60_000 ? Math.ceil(left / 1_000) * 1_000 : Math.floor(left / 60_000) * 60_000,
  );
}

function Badge({
  icon,
  tone,
  children,
}: {
  icon: readonly string[];
  tone?: 'warning' | undefined;
  children: React.ReactNode;
}) {
  return (
    <span className={tone === 'warning' ? styles.muting : styles.mark}>
      <Icon paths={icon} size={13} />
      {children}
    </span>
  );
}
