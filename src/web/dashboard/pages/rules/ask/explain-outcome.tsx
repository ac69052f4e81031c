import muteIcon from 'virtual:icon/bell-off';
import matchIcon from 'virtual:icon/check';
import panelsIcon from 'virtual:icon/device-tv';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RoutingOutcome, RuleTrace } from '#contract/routing.ts';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { Icon } from '#web/dashboard/pieces/icon.tsx';
import { LevelMark } from '#web/dashboard/pieces/level-mark.tsx';
import type { RuleWords } from '#web/dashboard/pieces/rules/rule-sentence.ts';
import { type TracedNotification, traceSentence } from '#web/dashboard/pieces/rules/rule-trace.ts';
import type { DraftRules } from '../editor/draft-set.ts';
import styles from './ask.module.css';

/** So many rules are told of at once; then those that matched, until all are asked for. */
const shownMost = 12;

/** The panels it reaches, how it looks there, and what each rule had to do with it. */
export function ExplainOutcome({
  outcome,
  rules,
  words,
  own,
  notification,
}: {
  outcome: RoutingOutcome;
  rules: DraftRules;
  words: RuleWords;
  own: string | undefined;
  notification: TracedNotification;
}) {
  const { t } = useTranslation('rules');
  const [all, setAll] = useState(false);
  const numbers = new Map(rules.map(({ id }, index) => [id, index + 1]));
  const endedBy = outcome.rules.findLast(
    ({ id, outcome: did }) => did === 'matched' && !rules[(numbers.get(id) ?? 0) - 1]?.continue,
  );
  const isShort = all || outcome.rules.length <= shownMost;
  const shown = isShort
    ? outcome.rules
    : outcome.rules.filter(({ id, outcome: did }) => did === 'matched' || id === own);
  const left = outcome.rules.length - shown.length + outcome.rulesOmitted;
  return (
    <>
      <Headline outcome={outcome} />
      {outcome.rules.length === 0 && <p className={styles.hint}>{t('explain.noRules')}</p>}
      <ol className={styles.walk}>
        {shown.map((trace) => {
          const number = numbers.get(trace.id);
          return (
            <Step
              key={trace.id}
              trace={trace}
              number={number}
              isOwn={trace.id === own}
              text={traceSentence(trace, words, {
                rule: number === undefined ? undefined : rules[number - 1],
                endedBy: endedBy && numbers.get(endedBy.id),
                notification,
              })}
            />
          );
        })}
      </ol>
      {left > 0 && (
        <Button size="compact-xs" variant="subtle" onClick={() => setAll(true)} disabled={all}>
          {t('explain.others', { count: left })}
        </Button>
      )}
      {outcome.rules.length > 0 && endedBy === undefined && !outcome.rules.some(isMatch) && (
        <p className={styles.hint}>{t('explain.noneMatched')}</p>
      )}
    </>
  );
}

const isMatch = ({ outcome }: RuleTrace) => outcome === 'matched';

function Headline({ outcome }: { outcome: RoutingOutcome }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const { muted, throttled, panels, panelCount, level, ttl } = outcome;
  const isShown = !muted && !throttled && panelCount > 0;
  const more = panelCount - panels.length;
  return (
    <div className={styles.headline} data-shown={isShown}>
      <Icon paths={isShown ? panelsIcon : muteIcon} size={18} />
      <div>
        <strong>
          {muted && t('outcome.muted')}
          {!muted && throttled && t('outcome.throttled')}
          {!muted &&
            !throttled &&
            (isShown ? t('outcome.shown', { count: panelCount }) : t('outcome.nowhere'))}
        </strong>
        {isShown && (
          <p className={styles.panels}>
            {panels.map(({ id, name }, index) => (
              <span key={id}>
                {index > 0 && ', '}
                <bdi>{name}</bdi>
              </span>
            ))}
            {more > 0 && ` ${t('outcome.more', { count: more })}`}
          </p>
        )}
        {isShown && (
          <p className={styles.looks}>
            <LevelMark name={level} />
            <span>{ttl === 0 ? t('ttl.cleared') : t('outcome.for', { time: formats.duration(ttl) })}</span>
          </p>
        )}
      </div>
    </div>
  );
}

function Step({
  trace,
  number,
  text,
  isOwn,
}: {
  trace: RuleTrace;
  number: number | undefined;
  text: string;
  isOwn: boolean;
}) {
  const { t } = useTranslation('rules');
  return (
    <li className={styles.step} data-outcome={trace.outcome} data-own={isOwn || undefined}>
      <span className={styles.stepNumber}>
        {isMatch(trace) ? <Icon paths={matchIcon} size={14} /> : null}
        {number}
      </span>
      <span>
        <bdi className={styles.stepName}>{trace.name}</bdi>
        {isOwn && <span className={styles.own}> {t('explain.own')}</span>}
        <bdi className={styles.stepText}>{text}</bdi>
      </span>
    </li>
  );
}
