/** The character references of HTML that mails contain: numbers, Latin-1, and signs of typography. */

/** From U+00A0 to U+00FF. */
const latin1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute
Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN
szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute
ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;

const characters: ReadonlyMap<string, string> = new Map([
  ...latin1.split(/\s+/).map((name, i) => [name, String.fromCodePoint(0xa0 + i)] as const),
  ...Object.entries({
    nbsp: ' ',
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
    euro: '€',
    ndash: '–',
    mdash: '—',
    lsquo: '‘',
    rsquo: '’',
    ldquo: '“',
    rdquo: '”',
    bdquo: '„',
    bull: '•',
    hellip: '…',
    rarr: '→',
    trade: '™',
    ge: '≥',
    le: '≤',
  }),
]);

/** HTML reads the numbers 128 to 159 as characters of this encoding. */
const windows = new TextDecoder('windows-1252');

/** A reference that is unknown or stands for no character is left as it is. */
export function decodeEntities(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z][a-z0-9]{1,7}));/gi,
    (reference, hex, decimal, name) => {
      if (name !== undefined) return characters.get(name) ?? reference;
      const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
      if (code >= 0x80 && code <= 0x9f) return windows.decode(Uint8Array.of(code));
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).replace('\u00a0', ' ') : reference;
    },
  );
}
