/** The browser and system of a user agent. */

const browsers: readonly (readonly [string, RegExp])[] = [
  ['Edge', /\bEdgA?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ['Safari', /\bSafari\//],
  ['curl', /^curl\//],
];
const systems: readonly (readonly [string, RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

export function browserName(userAgent: string | null): {
  readonly browser?: string;
  readonly system?: string;
} {
  const find = (list: typeof browsers) => list.find(([, pattern]) => pattern.test(userAgent ?? ''))?.[0];
  const browser = find(browsers);
  const system = find(systems);
  return { ...(browser && { browser }), ...(system && { system }) };
}
