import { useEffect, useState } from 'react';
import { useFormats } from './formats.ts';

/** How long ago, kept true while it is looked at; the exact time on pointing at it. */
export function Ago({ at }: { at: string }) {
  const formats = useFormats();
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={formats.dateTime(at)}>
      {formats.relative(at, Math.max(now, new Date(at).getTime()))}
    </time>
  );
}

/** The time, kept true while it is looked at. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
