/** The answer of the function `acknowledge_notification`. */
import type { Acknowledged, AcknowledgeOutcome, Route } from '#core/ports.ts';

export type AcknowledgeRow =
  | { readonly kind: 'acknowledged'; readonly at_position: number; readonly of_route: Route }
  | {
      readonly kind: 'already';
      readonly earlier_at: number;
      readonly earlier_by: string;
      readonly earlier_note: string | null;
    }
  | { readonly kind: 'not-found' };

/** `given`: what was to be stored for the notification `id`. */
export function toAcknowledgeOutcome(
  row: AcknowledgeRow | undefined,
  id: string,
  given: Acknowledged,
): AcknowledgeOutcome {
  switch (row?.kind) {
    case 'acknowledged': {
      const { at_position: position, of_route: route } = row;
      return { kind: 'acknowledged', entry: { ...given, kind: 'acknowledgement', position, id, route } };
    }
    case 'already': {
      const { earlier_at: at, earlier_by: by, earlier_note: note } = row;
      return { kind: 'already', acknowledged: { at, by, note } };
    }
    default:
      return { kind: 'not-found' };
  }
}
