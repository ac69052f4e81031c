import { createHmac, timingSafeEqual } from 'node:crypto';

/** `__Host-`: a browser takes it over https only, and from no other host, its subdomains included. */
export function cookiePrefix(isSecure: boolean): string {
  return isSecure ? '__Host-belfry' : 'belfry';
}

/** What may be a cookie of ours at all, without looking closer. */
export function hasSessionCookie(header: string | undefined): header is string {
  return header?.includes('belfry.session_token=') ?? false;
}

/** The session's token in a `Cookie` header, if this server signed it. */
export function readSessionToken(header: string, isSecure: boolean, key: string): string | undefined {
  const start = `${cookiePrefix(isSecure)}.session_token=`;
  for (const pair of header.split(';')) {
    const text = pair.trimStart();
    if (text.startsWith(start)) return verified(text.slice(start.length).trimEnd(), key);
  }
  return undefined;
}

/** Signed as the library does it: the value, a dot, its HMAC-SHA-256 in base64, all of it escaped. */
function verified(escaped: string, key: string): string | undefined {
  let text: string;
  try {
    text = decodeURIComponent(escaped);
  } catch {
    return undefined;
  }
  const dot = text.lastIndexOf('.');
  if (dot < 1) return undefined;
  const value = text.slice(0, dot);
  const expected = createHmac('sha256', key).update(value).digest();
  const given = Buffer.from(text.slice(dot + 1), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : undefined;
}
