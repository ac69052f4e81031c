import { createHmac, timingSafeEqual } from 'node:crypto';

/** `__Host-`: a browser takes it over https only, and from no other host, its subdomains included. */
export function cookiePrefix(isSecure: boolean): string {
  return isSecure ? '__Host-belfry' : 'belfry';
}

/** What may be a cookie of ours at all, without looking closer. */
export function hasSessionCookie(header: string | undefined): header is string {
  return header?.includes('belfry.session_token=') ?? false;
}

/** What this server keeps in a browser, always signed. */
export type SignedCookie = 'session_token' | 'dont_remember' | 'two_factor';

export function cookieName(origin: string, name: SignedCookie): string {
  return `${cookiePrefix(origin.startsWith('https:'))}.${name}`;
}

/** A whole `Set-Cookie` value that lasts as long as the browser is open, as {@link readSigned} takes it. */
export function signedCookie(origin: string, name: SignedCookie, value: string, key: string): string {
  const text = encodeURIComponent(`${value}.${createHmac('sha256', key).update(value).digest('base64')}`);
  return `${cookieName(origin, name)}=${text}${attributes(origin)}`;
}

/** Takes a cookie from the browser. */
export function expired(origin: string, name: SignedCookie): string {
  return `${cookieName(origin, name)}=; Max-Age=0${attributes(origin)}`;
}

function attributes(origin: string): string {
  return `; Path=/; HttpOnly${origin.startsWith('https:') ? '; Secure' : ''}; SameSite=Lax`;
}

/** The value of a cookie in a `Cookie` header, if this server signed it. */
export function readSigned(
  header: string,
  { origin, name }: { readonly origin: string; readonly name: SignedCookie },
  key: string,
): string | undefined {
  const start = `${cookieName(origin, name)}=`;
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
