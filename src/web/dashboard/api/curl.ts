/** Commands for a shell. */

export interface Example {
  readonly title: string;
  readonly message: string;
}

/** Between single quotes a shell interprets nothing but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** POST /api/notify with the notification as JSON. */
export function curlWithJson(server: string, token: string, example: Example): string {
  return [
    `curl ${quoted(`${server}/api/notify`)}`,
    `  -H ${quoted(`Authorization: Bearer ${token}`)}`,
    `  -d ${quoted(JSON.stringify(example))}`,
  ].join(' \\\n');
}

/** The same with the notification in headers. */
export function curlWithHeaders(server: string, token: string, { title, message }: Example): string {
  return [
    `curl -X POST ${quoted(`${server}/api/notify`)}`,
    `  -H ${quoted(`Authorization: Bearer ${token}`)}`,
    `  -H ${quoted(`X-Title: ${title}`)}`,
    `  -H ${quoted(`X-Message: ${message}`)}`,
  ].join(' \\\n');
}

/** A notification that says that the next one comes within a day. */
export function curlExpecting(server: string, token: string): string {
  return [
    curlWithHeaders(server, token, { title: 'Backup of db-01', message: 'done' }),
    `  -H 'X-Level: success' -H 'X-Key: backup-db-01' -H 'X-Expect-Every: 1d'`,
  ].join(' \\\n');
}

/** GET of a path, with parameters encoded by curl. */
export function curlGet(
  server: string,
  token: string,
  path: string,
  parameters: Readonly<Record<string, string>> = {},
): string {
  return [
    `curl ${Object.keys(parameters).length > 0 ? '-G ' : ''}${quoted(server + path)}`,
    `  -H ${quoted(`Authorization: Bearer ${token}`)}`,
    ...Object.entries(parameters).map(([name, value]) => `  --data-urlencode ${quoted(`${name}=${value}`)}`),
  ].join(' \\\n');
}
