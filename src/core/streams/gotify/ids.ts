/**
 * Ids of Gotify: whole numbers, which its clients compare. They rise with the positions of the log. After a restored backup positions
 * begin again at an earlier one; so the time at which the epoch began, which is in the epoch, is in front of the position.
 */

/** More entries than a log gets in a second, and few enough for ids below 2^53 until the year 2106. */
const perSecond = 2 ** 20;
const firstSecond = Date.UTC(2020, 0, 1) / 1000;

/** An epoch of a restored database: the seconds since 1970 in hexadecimal digits, and a random end. The first epoch of a database has no time. */
const restored = /^([0-9a-f]{8})[0-9a-f]{8}$/;

export const gotifyId = (epoch: string, position: number): number => baseOf(epoch) + position;

/** The position that an id names; zero or less: of none in this epoch. */
export const positionOfGotifyId = (epoch: string, id: number): number => id - baseOf(epoch);

function baseOf(epoch: string): number {
  const [, seconds] = restored.exec(epoch) ?? [];
  return seconds === undefined ? 0 : Math.max(0, Number.parseInt(seconds, 16) - firstSecond) * perSecond;
}
