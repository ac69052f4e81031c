import muteIcon from 'virtual:icon/bell-off';
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Rule } from '#contract/routing/rule.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { Icon } from '#web/dashboard/components/icon.tsx';
import { useFormats } from '#web/dashboard/formats/use-formats.tsx';
import { type RuleWords, whenSentence } from '#web/dashboard/rule-text/rule-sentence.ts';
import { SentenceText } from '#web/dashboard/rule-text/rule-text.tsx';
import { endText } from './rule-row.tsx';
import { activeMutes, endedRules } from './rule-state.ts';
import styles from './rules.module.css';

const shownMost = 3;

/** The mutes in force with their ends, and a button to delete ended rules. */
export function Mutes({
  rules,
  words,
  now,
  onEnd,
  onClear,
}: {
  rules: readonly Rule[];
  words: RuleWords;
  now: number;
  onEnd: (rule: Rule) => void;
  onClear: (rules: readonly Rule[]) => void;
}) {
  const { t } = useTranslation('rules');
  const { may } = useTenant();
  const [all, setAll] = useState(false);
  const mutes = activeMutes(rules, now);
  const ended = endedRules(rules, now);
  if (mutes.length === 0 && ended.length === 0) return null;
  return (
    <section className={styles.mutes} aria-label={t('mutes')}>
      <div className={styles.muteHead}>
        {mutes.length > 0 && (
          <h2>
            <Icon paths={muteIcon} size={16} />
            {t('inForce', { count: mutes.length })}
          </h2>
        )}
        {ended.length > 0 && may('admin') && (
          <Button size="compact-xs" className={styles.clear ?? ''} onClick={() => onClear(ended)}>
            {t('clearEnded', { count: ended.length })}
          </Button>
        )}
      </div>
      <ul>
        {(all ? mutes : mutes.slice(0, shownMost)).map((rule) => (
          <Mute key={rule.id} rule={rule} words={words} now={now} onEnd={may('admin') ? onEnd : undefined} />
        ))}
      </ul>
      {mutes.length > shownMost && !all && (
        <Button size="compact-sm" fz="xs" variant="subtle" onClick={() => setAll(true)}>
          {t('allMutes', { count: mutes.length })}
        </Button>
      )}
    </section>
  );
}

function Mute({
  rule,
  words,
  now,
  onEnd,
}: {
  rule: Rule;
  words: RuleWords;
  now: number;
  onEnd: ((rule: Rule) => void) | undefined;
}) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const left = endText(rule, now, formats);
  return (
    <li>
      <Link from="/t/$tenant/rules" to="." search={{ id: rule.id }} className={styles.muteName}>
        <bdi>{rule.name}</bdi>
      </Link>
      <span className={styles.what}>
        <SentenceText sentence={whenSentence(rule.when, words)} />
      </span>
      <span className={styles.until}>
        {left === undefined || rule.activeUntil === null
          ? t('end.never')
          : t('endsAt', { time: formats.dateTime(rule.activeUntil), left })}
      </span>
      {onEnd && (
        <Button
          size="compact-xs"
          onClick={() => onEnd(rule)}
          aria-label={t(left === undefined ? 'switchOffOf' : 'endNowOf', { name: rule.name })}
        >
          {t(left === undefined ? 'switchOff' : 'endNow')}
        </Button>
      )}
    </li>
  );
}
