/** The character references of HTML that mails contain: numbers, and all names of HTML 4. */

/** From U+00A0 to U+00FF. */
const latin1 = `nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro
para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute
Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN
szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute
ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml`;

/** From U+0391 to U+03C9. */
const greek = `Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa Lambda Mu Nu Xi Omicron Pi Rho - Sigma Tau Upsilon Phi Chi Psi
Omega - - - - - - - alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon
phi chi psi omega`;

/** Each with its name. */
const signs = `ŒOElig œoelig ŠScaron šscaron ŸYuml ƒfnof ˆcirc ˜tilde ϑthetasym ϒupsih ϖpiv –ndash —mdash ‘lsquo ’rsquo ‚sbquo “ldquo
”rdquo „bdquo †dagger ‡Dagger •bull …hellip ‰permil ′prime ″Prime ‹lsaquo ›rsaquo ‾oline ⁄frasl €euro ℑimage ℘weierp ℜreal ™trade
ℵalefsym ←larr ↑uarr →rarr ↓darr ↔harr ↵crarr ⇐lArr ⇑uArr ⇒rArr ⇓dArr ⇔hArr ∀forall ∂part ∃exist ∅empty ∇nabla ∈isin ∉notin ∋ni
∏prod ∑sum −minus ∗lowast √radic ∝prop ∞infin ∠ang ∧and ∨or ∩cap ∪cup ∫int ∴there4 ∼sim ≅cong ≈asymp ≠ne ≡equiv ≤le ≥ge ⊂sub ⊃sup
⊄nsub ⊆sube ⊇supe ⊕oplus ⊗otimes ⊥perp ⋅sdot ⌈lceil ⌉rceil ⌊lfloor ⌋rfloor ⟨lang ⟩rang ◊loz ♠spades ♣clubs ♥hearts ♦diams ✓check
✗cross ☎phone ★starf ☆star`;

const characters: ReadonlyMap<string, string> = new Map([
  ...latin1.split(/\s+/).map((name, i) => [name, String.fromCodePoint(0xa0 + i)] as const),
  ...greek.split(/\s+/).map((name, i) => [name, String.fromCodePoint(0x391 + i)] as const),
  ...signs.split(/\s+/).map((pair) => [pair.slice(1), pair.slice(0, 1)] as const),
  ...Object.entries({
    nbsp: ' ',
    lt: '<',
    gt: '>',
    amp: '&',
    quot: '"',
    apos: "'",
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
