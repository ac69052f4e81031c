const germanLetters: Readonly<Record<string, string>> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** A short name from a title: "Plant 2, Hall B" gives plant-2-hall-b, and "Klinikum Süd" klinikum-sued. */
export function shortNameOf(title: string): string {
  return title
    .toLowerCase()
    .normalize('NFC')
    .replace(/[äöüß]/g, (letter) => germanLetters[letter] as string)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replace(/^-+|-+$/g, '');
}
