import { useIntersection } from '@mantine/hooks';
import { memo } from 'react';
import type { Panel } from '#contract/panel.ts';
import { useTenant } from '#web/dashboard/api/tenant.tsx';
import { useFormats } from '#web/dashboard/pieces/formats.ts';
import { OpeningRow, RowButton } from '#web/dashboard/pieces/rows/row-table.tsx';
import { Ago } from '#web/dashboard/pieces/time/ago.tsx';
import { CommandButtons, useCommandToast } from './commands.tsx';
import styles from './panel-list.module.css';
import { PanelMark } from './panel-mark.tsx';
import { ShowingCounts } from './showing-counts.tsx';

/** One line a panel. The name opens it; so does a click anywhere that is nothing else. */
export const PanelTableRow = memo(function PanelTableRow({
  panel,
  onOpen,
}: {
  panel: Panel;
  onOpen: (id: string) => void;
}) {
  const formats = useFormats();
  const { may } = useTenant();
  const { ref, entry } = useIntersection<HTMLTableRowElement>({ rootMargin: '200px' });
  const command = useCommandToast(panel);
  const open = () => onOpen(panel.id);
  return (
    <OpeningRow ref={ref} onOpen={open}>
      <td className={styles.state}>
        <PanelMark panel={panel} />
      </td>
      <td>
        <RowButton
          onOpen={open}
          onKeyDown={(event) => {
            if (event.key === 'i' && may('member')) command('identify');
          }}
        >
          <strong>
            <bdi>{panel.name}</bdi>
          </strong>{' '}
          {panel.location !== null && <bdi className={styles.location}>{panel.location}</bdi>}
        </RowButton>
      </td>
      <td className={styles.shows}>{entry?.isIntersecting && <ShowingCounts id={panel.id} />}</td>
      <td className={styles.tags} title={panel.tags.join(', ')}>
        {panel.tags.map((tag) => (
          <span key={tag} className="chip">
            {tag}
          </span>
        ))}
      </td>
      <td className={styles.seen}>{panel.lastSeenAt !== null && <Ago at={panel.lastSeenAt} />}</td>
      <td className={`${styles.lag} ${panel.lag === 0 ? 'muted' : ''}`}>{formats.number(panel.lag)}</td>
      <td className={`${styles.version} mono`} title={panel.version ?? undefined}>
        {panel.version}
      </td>
      <td className={`${styles.address} mono`} title={panel.address ?? undefined}>
        {panel.address}
      </td>
      {may('member') && (
        <td className={`${styles.actions} ${styles.actionsCell}`}>
          <CommandButtons panel={panel} onCommand={command} />
        </td>
      )}
    </OpeningRow>
  );
});
