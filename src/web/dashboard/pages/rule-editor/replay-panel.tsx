import { Button, SegmentedControl } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type ReplayResponse, replayChanges } from '#contract/routing/routing.ts';
import { askReplay } from '#web/dashboard/api/rules.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { LevelMark } from '#web/dashboard/components/level-mark.tsx';
import { ErrorNotice } from '#web/dashboard/components/notice.tsx';
import { useFormats, useNow } from '#web/dashboard/formats/use-formats.tsx';
import type { DraftRules } from './draft.ts';
import styles from './try-panels.module.css';

type Example = ReplayResponse['examples'][number];

/** What the draft would have changed in the last days. */
export function ReplayPanel({
  replay,
  rules,
  canRun,
}: {
  replay: Replay;
  /** The same object until something in it changes. */
  rules: DraftRules;
  /** The draft is complete. */
  canRun: boolean;
}) {
  const { t } = useTranslation('rules');
  const [days, setDays] = useState<number>(7);
  const { run, runningSince, error } = replay;
  return (
    <div className={styles.panel}>
      <p className={styles.hint}>{t('replay.about')}</p>
      <div className={styles.ask}>
        <SegmentedControl
          size="xs"
          aria-label={t('replay.range')}
          value={String(days)}
          onChange={(value) => setDays(Number(value))}
          data={replayDays.map((count) => ({ value: String(count), label: t('replay.days', { count }) }))}
        />
        {runningSince === undefined ? (
          <Button
            size="xs"
            variant="filled"
            disabled={!canRun}
            onClick={() => void replay.start(rules, days)}
          >
            {t('replay.start')}
          </Button>
        ) : (
          <Button size="xs" onClick={replay.cancel}>
            {t('cancel')}
          </Button>
        )}
      </div>
      {!canRun && <p className={styles.hint}>{t('replay.notWhole')}</p>}
      {runningSince !== undefined && <Running since={runningSince} days={days} />}
      {error !== undefined && <ErrorNotice error={error} title={t('replay.failed')} />}
      {run && (
        <div data-stale={run.rules !== rules || undefined} className={styles.result} aria-live="polite">
          {run.rules !== rules && <p className={styles.stale}>{t('replay.stale')}</p>}
          <ReplayResult result={run.result} days={run.days} />
        </div>
      )}
    </div>
  );
}

/** The server reports no progress: only the time can be shown. */
function Running({ since, days }: { since: number; days: number }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const seconds = Math.max(0, Math.floor((useNow(500) - since) / 1_000));
  return (
    <div className={styles.running} role="status">
      <span className={styles.bar} />
      {t('replay.running', { count: days })}
      {seconds > 0 && <span className="muted"> {formats.duration(seconds * 1_000)}</span>}
    </div>
  );
}

function ReplayResult({ result, days }: { result: ReplayResponse; days: number }) {
  const { t } = useTranslation('rules');
  const formats = useFormats();
  const { considered, changed, shownBefore, shownAfter, escalated, complete, changes, examples } = result;
  const number = (count: number) => ({ count, number: formats.number(count) });
  return (
    <>
      <p className={styles.total}>
        <strong>
          {changed === 0 ? t('replay.nothing', { count: days }) : t('replay.changed', number(changed))}
        </strong>
        <span className="muted">
          {t('replay.considered', number(considered))}
          {' · '}
          {t('replay.shown', { before: formats.number(shownBefore), after: formats.number(shownAfter) })}
        </span>
      </p>
      {escalated > 0 && <p className={styles.total}>{t('replay.escalated', number(escalated))}</p>}
      {!complete && <p className={styles.stale}>{t('replay.capped', number(considered))}</p>}
      {replayChanges
        .filter((change) => changes[change] > 0)
        .map((change) => (
          <details key={change} className={styles.group} open={changes[change] <= 5}>
            <summary>
              <b>{formats.number(changes[change])}</b>{' '}
              {t(`replay.kind.${change}`, { count: changes[change] })}
            </summary>
            {change === 'suppressed' && <p className={styles.hint}>{t('replay.suppressedAbout')}</p>}
            <ul>
              {examples
                .filter((example) => example.change === change)
                .map((example) => (
                  <ChangedOne key={example.id} example={example} />
                ))}
            </ul>
            {changes[change] > 20 && <p className={styles.hint}>{t('replay.newest')}</p>}
          </details>
        ))}
    </>
  );
}

function ChangedOne({ example: { id, title, host, receivedAt, before, after } }: { example: Example }) {
  const formats = useFormats();
  const { t } = useTranslation('rules');
  const outcomeText = (one: Example['before']) => {
    if (one.muted) return t('replay.one.muted');
    if (one.throttled) return t('replay.kind.throttled');
    if (one.suppressed) return t('replay.kind.suppressed');
    if (one.target.all) return t('panels.all');
    const { ids, tags } = one.target;
    if (ids.length + tags.length === 0) return t('panels.none');
    return [...tags, ...(ids.length > 0 ? [t('replay.one.panels', { count: ids.length })] : [])].join(', ');
  };
  const levelChanged = before.level !== after.level;
  return (
    <li className={styles.example}>
      <div className={styles.exampleHead}>
        <Link from="/t/$tenant/rules" to="/t/$tenant/history" search={{ id }} target="_blank" rel="noopener">
          <bdi>{title}</bdi>
        </Link>
        <bdi className="mono muted">{host}</bdi>
        <time className="mono muted" dateTime={receivedAt}>
          {formats.dateTime(receivedAt)}
        </time>
      </div>
      <div className={styles.beforeAfter}>
        {levelChanged && <LevelMark name={before.level} />} {outcomeText(before)}
        <span aria-hidden="true"> → </span>
        <span className="hidden">{t('replay.becomes')}</span>
        {levelChanged && <LevelMark name={after.level} />} <b>{outcomeText(after)}</b>
        {before.ttl !== after.ttl && (
          <span>
            {' · '}
            {after.ttl === 0 ? t('untilCleared') : formats.duration(after.ttl)}
          </span>
        )}
      </div>
    </li>
  );
}

const replayDays = [1, 7, 30] as const;

interface ReplayRun {
  readonly rules: DraftRules;
  readonly days: number;
  readonly result: ReplayResponse;
}

/** Both are missing if it was cancelled. */
export interface ReplayOutcome {
  readonly result?: ReplayResponse;
  readonly error?: unknown;
}

export interface Replay {
  /** The last one that finished. */
  readonly run: ReplayRun | undefined;
  readonly runningSince: number | undefined;
  readonly error: unknown;
  /** Never throws. */
  start(rules: DraftRules, days: number): Promise<ReplayOutcome>;
  cancel(): void;
}

/** One replay at a time; cancelling it stops it on the server. */
export function useReplay(): Replay {
  const tenant = useTenant();
  const [run, setRun] = useState<ReplayRun>();
  const [runningSince, setRunningSince] = useState<number>();
  const [error, setError] = useState<unknown>();
  const current = useRef<AbortController>(undefined);
  const cancel = useCallback(() => {
    current.current?.abort();
    current.current = undefined;
    setRunningSince(undefined);
  }, []);
  useEffect(() => () => current.current?.abort(), []);
  const start = async (rules: DraftRules, days: number): Promise<ReplayOutcome> => {
    cancel();
    const controller = new AbortController();
    current.current = controller;
    setError(undefined);
    setRunningSince(Date.now());
    try {
      const result = await askReplay(tenant, { rules, days }, controller.signal);
      setRun({ rules, days, result });
      return { result };
    } catch (reason) {
      if (controller.signal.aborted) return {};
      setError(reason);
      return { error: reason };
    } finally {
      if (current.current === controller) {
        current.current = undefined;
        setRunningSince(undefined);
      }
    }
  };
  return { run, runningSince, error, start, cancel };
}
