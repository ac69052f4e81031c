import { useEffect, useState } from 'react';
import { useFormats } from './formats.ts';

/** The time, kept up to date. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** How long ago, kept up to date; the exact time as a tooltip. `never` is shown if there is no time. */
export function Ago({ at, never = '' }: { at: string | null; never?: string }) {
  const formats = useFormats();
  const now = useNow();
  if (at === null) return <span className="muted">{never}</span>;
  return (
    <time dateTime={at} title={formats.dateTime(at)}>
      {formats.relative(at, Math.max(now, Date.parse(at)))}
    </time>
  );
}
