import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { canonicalAddress } from '../core/addresses.ts';

/** A set of addresses and CIDR blocks to test against. Entries must be valid; the configuration and the API check them. */
export function addressSet(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [network = '', prefix] = entry.split('/');
    const address = canonicalAddress(network) ?? network;
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Where a request comes from: the socket's address, or behind a trusted proxy the right-most address of
 * `X-Forwarded-For` (or else `Forwarded`) that is not a trusted proxy itself. What a client wrote further left is never
 * believed. Canonical text; v4-mapped v6 becomes v4.
 */
export function sourceAddressReader(trustedProxies: readonly string[]): (request: IncomingMessage) => string {
  const trusted = trustedProxies.length === 0 ? undefined : addressSet(trustedProxies);
  return (request) => {
    const peer = plain(request.socket.remoteAddress);
    if (!trusted?.(peer)) return peer;
    let source = peer;
    for (const hop of forwardedHops(request).reverse()) {
      const address = canonicalAddress(hop);
      if (address === undefined) break;
      source = address;
      if (!trusted(address)) break;
    }
    return source;
  };
}

function plain(address: string | undefined): string {
  if (address === undefined) return '0.0.0.0';
  return address.startsWith('::ffff:')
    ? address.slice(7)
    : (canonicalAddress(address.split('%')[0] ?? address) ?? address);
}

/** The addresses of the forwarding headers, left to right, without ports and brackets. */
function forwardedHops(request: IncomingMessage): string[] {
  const { forwarded, 'x-forwarded-for': list } = request.headers;
  if (list !== undefined) return [list].flat().join(',').split(',').map(withoutPort);
  if (forwarded === undefined) return [];
  return forwarded.split(',').map((element) => {
    const pair = element.split(';').find((part) => /^\s*for=/i.test(part));
    return withoutPort((pair?.split('=')[1] ?? '').trim().replace(/^"(.*)"$/, '$1'));
  });
}

function withoutPort(hop: string): string {
  const text = hop.trim();
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1] as string;
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(':')) : text;
}
