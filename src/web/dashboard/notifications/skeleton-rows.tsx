import styles from './notification-grid.module.css';

const widths = [58, 44, 66, 52, 61, 40, 70, 48, 55, 63, 46, 59];

/** Stands where rows will be, at the very first load only. */
export function SkeletonRows() {
  return (
    <div aria-hidden="true">
      {widths.map((width) => (
        <div key={width} className={styles.skeleton}>
          <span style={{ width: 78 }} />
          <span style={{ width: 66 }} />
          <span style={{ width: `${width * 0.7}%` }} />
        </div>
      ))}
    </div>
  );
}
