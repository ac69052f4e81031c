/**
 * The text as rules compare it when case does not count: two texts are the same without regard to case when their
 * folded forms are equal, and folding the parts of a text gives the parts of its folded form, so that a literal can be
 * looked for in folded text.
 */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  // The two letters whose lower case depends on where they stand, or is two characters long.
  return text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ');
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}
