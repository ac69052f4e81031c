import type { Ref } from 'react';
import type { QueryComplaint } from '#web/dashboard/query/query-complaint.ts';
import { paintQuery, type QueryPiece } from '#web/dashboard/query/query-words.ts';
import styles from './search-box.module.css';

type Piece = QueryPiece & { readonly start: number; readonly isBad: boolean };

/** The text behind the input, in its colours: the input's own is transparent. */
export function PaintedQuery({
  ref,
  text,
  complaint,
}: {
  ref: Ref<HTMLDivElement>;
  text: string;
  complaint: QueryComplaint | undefined;
}) {
  return (
    <div ref={ref} className={styles.paint} aria-hidden="true">
      {markBad(text, complaint).map((piece) => (
        <span
          key={piece.start}
          className={`${piece.tone === 'plain' ? '' : styles[piece.tone]} ${piece.isBad ? styles.badText : ''}`}
        >
          {piece.text}
        </span>
      ))}
    </div>
  );
}

/** The pieces, cut where the bad part begins and ends. */
function markBad(text: string, complaint: QueryComplaint | undefined): Piece[] {
  const { start: from = 0, end: until = 0 } = complaint ?? {};
  const pieces: Piece[] = [];
  let at = 0;
  for (const { text: whole, tone } of paintQuery(text)) {
    const end = at + whole.length;
    const cuts = [at, ...[from, until].filter((cut) => cut > at && cut < end), end];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const [start, stop] = [cuts[i] as number, cuts[i + 1] as number];
      const isBad = start >= from && stop <= until && until > from;
      pieces.push({ text: text.slice(start, stop), tone, start, isBad });
    }
    at = end;
  }
  return pieces;
}
