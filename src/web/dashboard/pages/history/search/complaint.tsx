import { Button } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { QueryComplaint } from '#web/dashboard/query/query-complaint.ts';
import styles from './search-box.module.css';

/** What is wrong with the search, in the server's words, and what it offers instead. */
export function Complaint({
  complaint,
  onChoose,
}: {
  complaint: QueryComplaint | undefined;
  onChoose: (text: string) => void;
}) {
  const { t } = useTranslation('history');
  return (
    <div id="search-complaint" role="alert" className={styles.complaint}>
      {complaint && (
        <>
          <span className={styles.sentence}>
            <bdi>{complaint.sentence}</bdi>
          </span>
          {complaint.offers.map(({ name, text }) => (
            <Button key={name} size="compact-xs" variant="light" onClick={() => onChoose(text)}>
              {t('takeOffer', { name: name.length > 60 ? `${name.slice(0, 60)}…` : name })}
            </Button>
          ))}
        </>
      )}
    </div>
  );
}
