import { encode } from 'uqr';

/** One path of all dark squares, on white, with the margin that scanners need. */
export function QrCode({ text, label, size }: { text: string; label: string; size: number }) {
  const { data, size: modules } = encode(text, { ecc: 'M', border: 3 });
  const d = data.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg
      width={size}
      height={size}
      viewBox={`0 0 ${modules} ${modules}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <path d={`M0 0h${modules}v${modules}H0z`} fill="#fff" />
      <path d={d} fill="#0b0e14" />
    </svg>
  );
}
