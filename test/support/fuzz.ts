/** Code that fuzzers share. */
import { randomInt } from 'node:crypto';
import { noteOutput } from './failure-notes.ts';
import type { IntakeDesk } from './intake.ts';
import type { RawAnswer } from './raw-http.ts';

/** The seed of a run: FUZZ_SEED where it is set, otherwise a new one. It is printed, with the command that repeats the run. */
export function seedOf(file: string): number {
  const seed = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
  const line = `FUZZ_SEED=${seed} npm test -- ${file}`;
  console.log(line);
  noteOutput('to repeat')(line);
  return seed;
}

/** Runs `work` on every item, `width` at a time. */
export async function spread<T>(
  items: readonly T[],
  width: number,
  work: (item: T, lane: number) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: width }, async (_, lane) => {
      for (const item of { [Symbol.iterator]: () => rest }) await work(item, lane);
    }),
  );
}

/** Why an answer to an arbitrary request is invalid; undefined if it is valid. */
export function wrongWith({ status, headers, body }: RawAnswer): string | undefined {
  if (status >= 500) return `a ${status}: ${body}`;
  if (status < 400) return undefined;
  if (!headers['content-type']?.startsWith('application/json'))
    return `an error of type ${headers['content-type']}`;
  const error: unknown = JSON.parse(body);
  // At /gotify and /ntfy errors have the fields that their clients read as well.
  const fields = ['error', 'error,errorCode,errorDescription', 'error,code,http,link'];
  const isOneField =
    typeof error === 'object' && error !== null && fields.includes(Object.keys(error).join());
  if (!isOneField || typeof (error as { error: unknown }).error !== 'string') return `not one field: ${body}`;
  if (status === 401 && !/^Bearer\b/.test(headers['www-authenticate'] ?? ''))
    return 'a 401 without WWW-Authenticate';
  if (status === 405 && !headers.allow) return 'a 405 without Allow';
  return undefined;
}

/** The ids of the stored notifications that an answer of any format contains. */
export function acceptedIds({ status, body }: Pick<RawAnswer, 'status' | 'body'>): string[] {
  if (status > 202 || !/^\{"(?:ok|id|result)":/.test(body)) return [];
  const { ok, id, items = [], event, extras, requestId } = JSON.parse(body);
  // What is answered and not kept has none.
  if (requestId !== undefined) return requestId === '' ? [] : [requestId];
  if (extras?.belfry !== undefined) return [extras.belfry.id];
  if (event === 'message' || (ok === true && typeof id === 'string')) return [id];
  return items.flatMap((item: { id?: string }) => item.id ?? []);
}

/** The ids of all notifications in history. */
export async function storedIds(desk: IntakeDesk): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await desk.server.call('GET', `/api/history?limit=200&cursor=${cursor}`, {
      token: desk.key,
    });
    for (const { id } of json.notifications) ids.add(id);
    cursor = json.nextCursor;
  }
  return ids;
}
