/** A client of Gotify, as its Android app behaves. */
import { openSocket, type PhoneStream } from './ntfy-client.ts';

export interface GotifyMessage {
  readonly id: number;
  readonly appid: number;
  readonly title: string;
  readonly message: string;
  readonly priority: number;
  readonly date: string;
  readonly extras?: Readonly<Record<string, unknown>>;
}

/** What the app sends: the user is any name, and the token is the password. */
export const signIn = (token: string) => ({
  authorization: `Basic ${Buffer.from(`phone:${token}`).toString('base64')}`,
  'user-agent': 'okhttp/4.12.0',
});
export const key = (token: string) => ({ 'x-gotify-key': token, 'user-agent': 'okhttp/4.12.0' });

/** As the app does: a message of another form makes it fail. */
export function parseGotify(text: string): GotifyMessage {
  const read = JSON.parse(text) as GotifyMessage;
  const { id, appid, title, message, priority, date, extras = {} } = read;
  const isText = (value: unknown) => typeof value === 'string';
  const isFine =
    [id, appid, priority].every(Number.isSafeInteger) &&
    [title, message, date].every(isText) &&
    Object.values(extras).every((value) => typeof value === 'object' && value !== null);
  if (!isFine) throw new Error(`the app cannot read ${text}`);
  return read;
}

/** The stream as the app opens it. @throws Error naming the status when the server refuses. */
export const openGotify = (url: string, token: string): Promise<PhoneStream<GotifyMessage>> =>
  openSocket(`${url}/gotify/stream?token=${token}`, { 'user-agent': 'okhttp/4.12.0' }, parseGotify);
