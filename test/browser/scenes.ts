/** What panels are shown in tests and pictures, the newest first. */

export interface Sent {
  readonly title: string;
  readonly message: string;
  readonly level?: string;
  readonly host?: string;
  readonly ip?: string;
  readonly url?: string;
  readonly ttl?: number;
}

/** As {@link Sent}, a while ago: for pictures with ages in them. */
export interface SentAgo extends Sent {
  readonly agoMs: number;
}

const ago = (seconds: number, sent: Sent): SentAgo => ({ ...sent, agoMs: seconds * 1_000 });

const power: Sent = {
  title: 'Power lost in rack 4, on battery',
  message: 'UPS reports 11 minutes left at the present load. Generator has not started.',
  level: 'critical',
  host: 'ups-4.dc1',
  ip: '10.0.9.14',
};

export const singleCritical: readonly SentAgo[] = [ago(140, power)];

/** The newest first. */
export const fullBoard: readonly SentAgo[] = [
  ago(9, {
    title: 'Release 4.2 is out',
    message: 'shop-api, 3 of 3 regions.',
    level: 'info',
    host: 'ci',
    ttl: 30_000,
  }),
  ...Array.from({ length: 14 }, (_, n) =>
    ago(11 + n, {
      title: `Deployed web-${14 - n}`,
      message: 'Health checks passed on the first try.',
      level: 'info',
      host: `web-${14 - n}`,
      ttl: 60_000,
    }),
  ),
  ago(48, {
    title: 'Disk almost full',
    message: '/var is at 91 % and growing 2 % per hour.',
    level: 'warning',
    host: 'db-01.internal',
    ip: '10.0.4.17',
    ttl: 120_000,
  }),
  ago(70, {
    title: 'Certificate ends in 6 days',
    message: '*.example.org, issued by the internal CA.',
    level: 'warning',
    host: 'edge-1',
    ttl: 120_000,
  }),
  ago(140, power),
  ago(380, {
    title: 'Replication stopped on db-02',
    message: 'Last WAL position 3/A41F is 214 MB behind the primary; receiver exited with code 1.',
    level: 'error',
    host: 'db-02.internal',
    ip: '10.0.4.18',
  }),
  ago(560, {
    title: 'Checkout latency p99 above 2 s',
    message: 'shop-api has been over its limit for 5 minutes in eu-west.',
    level: 'error',
    host: 'shop-api',
    ip: '10.2.0.31',
    url: 'https://grafana.example.org/d/checkout',
  }),
];

const script = '<script>window.hacked = true</script>';
const breakers: readonly string[] = [
  script,
  '<img src=x onerror="window.hacked = true">',
  '"><svg onload=alert(1)>',
  '<iframe srcdoc="<script>parent.hacked=true</script>"></iframe>',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  '<style>*{display:none}</style>',
  '</textarea></title></style></template>-->',
  '<base href="https://evil.example/">',
  '<form action=//evil.example><input autofocus onfocus=alert(1)>',
  '<a href="javascript:alert(1)">x</a>',
  '<math><mi xlink:href="data:x,<script>alert(1)</script>">',
  '<details open ontoggle=alert(1)>',
  `$&$\`$'\\\${alert(1)}`,
  '&lt;b&gt;&amp;&#x3c;',
  '__proto__',
  '<link rel=stylesheet href=//evil.example>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
];
const bidi: readonly string[] = [
  '\u202Egnp.exe\u202C evil',
  '\u2066\u2067\u2068nested isolates without an end',
  '\u202A\u202B\u202D\u202Eall the overrides at once',
  'אזהרה: הדיסק מלא ‏(91%)',
  'تحذير: القرص ممتلئ',
  '\u200F\u200E\u061Cmarks only',
];
const odd: readonly string[] = [
  `Z${'\u0351\u0348\u0316\u033F\u0344'.repeat(40)}algo`,
  'W'.repeat(10_000),
  '\u0001\u0002\u0007\u001B[31mred\u001B[0m \u007F\u0085',
  '👩‍👩‍👧‍👦'.repeat(60),
  '\uFEFF\u200B\u200C\u200D\u2060invisible',
  'a\r\nb\nc\td',
  '﷽'.repeat(80),
  '縦書き漢字の長い題名'.repeat(20),
];

/** Two hundred notifications that try to be more than text: as title, as message, and both with the others. */
export const hostileNotifications: readonly Sent[] = [
  ...odd.map((text, n) => hostile(text, `odd ${n}: ${text}`, n)),
  ...[...breakers, ...bidi].map((text, n) => hostile(text, `in the message: ${text}`, n)),
  ...Array.from({ length: 168 }, (_, n) => {
    const pick = (from: readonly string[], step: number) => from[(n * step) % from.length] ?? '';
    return hostile(
      `${n} ${pick(bidi, 1)} ${pick(breakers, 1)}`,
      `${pick(breakers, 5)}${pick(bidi, 3)}${pick(breakers, 7)}`,
      n,
    );
  }),
];

function hostile(title: string, message: string, n: number): Sent {
  return {
    title:
      [...title]
        .slice(0, 120)
        .join('')
        .slice(0, 250)
        .trim()
        .replace(/[\uD800-\uDBFF]$/, '') || 'blank',
    message: message.slice(0, 16_000).trim(),
    level: (['error', 'warning', 'critical', 'info'] as const)[n % 4] ?? 'info',
    host: `<b>${n}</b>\u202E${'h'.repeat(n % 5 === 0 ? 200 : 10)}`.slice(0, 250),
    url:
      n % 3 === 0
        ? `https://example.org/?q=${encodeURIComponent(title.slice(0, 40).replace(/[\uD800-\uDFFF]/g, ''))}`
        : 'https://example.org/',
    ttl: 600_000,
  };
}
