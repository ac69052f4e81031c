/** What a push message holds, once the browser has decrypted it: the service worker shows it. */
export interface PushPayload {
  readonly title: string;
  readonly body: string;
  /** The same for all notifications of a key: the next one takes the place of the one before. */
  readonly tag: string;
  /** What a tap opens: the notification's own link, or a path of the dashboard. */
  readonly url: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** It stays until somebody has looked at it, where the system lets it. */
  readonly stays: boolean;
}
