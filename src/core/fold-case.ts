/**
 * Case folding for rules: two texts are equal without regard to case if their folded forms are equal. Folding a part of a text
 * gives a part of its folded form, so a folded literal can be searched in folded text.
 */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  // One letter has a lower case of two characters, the other depends on its place in the word.
  return text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ');
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
