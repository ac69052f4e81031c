/** Addresses and CIDR blocks, one a line, as people write them. */

/** What is written, an entry each. */
export const entriesOf = (text: string): string[] => text.split(/[\s,;]+/).filter((entry) => entry !== '');

/** The first entry that is no address and no CIDR block, as 10.0.0.5, 10.0.0.0/8 or fd00::/8 are. */
export const wrongEntry = (text: string): string | undefined =>
  entriesOf(text).find((entry) => !isAddressOrBlock(entry));

function isAddressOrBlock(entry: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
  if (isV4(address)) return Number(prefix ?? 0) <= 32;
  return isV6(address) && Number(prefix ?? 0) <= 128;
}

const isV4 = (text: string) =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) &&
  text.split('.').every((part) => Number(part) <= 255 && String(Number(part)) === part);

function isV6(text: string): boolean {
  return /^[0-9a-f:.]{2,45}$/i.test(text) && text.includes(':') && URL.canParse(`http://[${text}]`);
}
