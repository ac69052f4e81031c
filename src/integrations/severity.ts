/** From the sender's own word for how serious something is to a level of Belfry. */
import { limits } from '#contract/limits.ts';
import { AppError } from '#core/errors.ts';

/** Words that many senders share. A format with words of its own has a table of its own. */
const levelOfWord: Readonly<Record<string, readonly string[]>> = {
  critical: ['critical', 'crit', 'fatal', 'disaster', 'emergency', 'emerg', 'panic', 'alert', 'page', 'p1'],
  error: ['error', 'err', 'high', 'major', 'failure', 'failed', 'fail', 'danger', 'down', 'alarm', 'p2'],
  warning: ['warning', 'warn', 'average', 'medium', 'moderate', 'minor', 'degraded', 'pending', 'p3'],
  info: ['info', 'information', 'informational', 'notice', 'low', 'debug', 'none', 'normal', 'p4', 'p5'],
  success: ['success', 'successful', 'ok', 'up', 'good', 'resolved', 'recovered', 'recovery', 'passed'],
};

const usualLevels: ReadonlyMap<string, string> = new Map(
  Object.entries(levelOfWord).flatMap(([level, words]) => words.map((word) => [word, level] as const)),
);

/** The level of a word that senders share, and `otherwise` for any other. */
export function usualLevel(word: string, otherwise: string): string {
  return usualLevels.get(word) ?? otherwise;
}

/** A word for `critical` as a whole string of JSON, or an escape that may spell one. */
const criticalString = new RegExp(String.raw`"\s*(?:${levelOfWord.critical?.join('|')})\s*"|\\u00`, 'i');

/** Whether a JSON text may contain a critical item, by the shared words alone. False is certain. */
export const mayHoldCritical = (json: string): boolean => criticalString.test(json);

/** The value of `?level=`: the level of each word, and the level of all other words. */
export interface LevelMap {
  readonly words: ReadonlyMap<string, string>;
  readonly others: string | undefined;
}

const example = 'write level=critical:alarm,warning:warn, and a level alone for every other word';

/**
 * Reads `critical:alarm,warning:warn,info`: a word of the sender with its level, and a level alone for every other word.
 * @throws AppError `bad-request` when it cannot be read.
 */
export function parseLevelMap(texts: readonly string[]): LevelMap {
  const words = new Map<string, string>();
  let others: string | undefined;
  const entries = texts.flatMap((text) => text.split(',')).filter((entry) => entry.trim() !== '');
  for (const entry of entries) {
    const at = entry.lastIndexOf(':');
    const word = entry.slice(0, Math.max(at, 0)).trim().toLowerCase();
    const level = entry
      .slice(at + 1)
      .trim()
      .toLowerCase();
    if (!limits.levelPattern.test(level) || (at >= 0 && word === '')) throw invalid(`"${entry}" is no level`);
    if (at < 0 ? others !== undefined : words.has(word)) throw invalid(`"${entry}" is a second level`);
    if (at < 0) others = level;
    else words.set(word, level);
  }
  return { words, others };
}

const invalid = (problem: string) =>
  new AppError('bad-request', `level in the query: ${problem.slice(0, 200)}; ${example}`, {
    place: { parameter: 'level' },
  });

/** A sender's word in the form in which tables contain it. */
export const wordOf = (text: string): string => text.trim().toLowerCase();
