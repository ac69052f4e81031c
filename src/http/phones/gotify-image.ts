/** The image of an application of Gotify: a disc in the colour of its level. */
import { crc32, deflateSync } from 'node:zlib';

const size = 64;

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** A PNG. `color`: six hexadecimal digits. */
export function discOf(color: string): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  // One bit for each pixel, in a palette.
  header.set([1, 3, 0, 0, 0], 8);
  const palette = Buffer.concat([Buffer.alloc(3), Buffer.from(color, 'hex')]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', palette),
    // The first colour is transparent.
    chunk('tRNS', Buffer.from([0])),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const pixels = deflateSync(Buffer.concat(Array.from({ length: size }, (_, y) => row(y))));

/** A byte for the filter, then a bit for each pixel. */
function row(y: number): Buffer {
  const bytes = Buffer.alloc(1 + size / 8);
  const middle = (size - 1) / 2;
  for (let x = 0; x < size; x++) {
    const isInside = Math.hypot(x - middle, y - middle) <= size / 2;
    const at = 1 + (x >> 3);
    if (isInside) bytes.writeUInt8(bytes.readUInt8(at) | (0x80 >> (x & 7)), at);
  }
  return bytes;
}

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(content.length + 8);
  framed.writeUInt32BE(data.length, 0);
  content.copy(framed, 4);
  framed.writeUInt32BE(crc32(content), content.length + 4);
  return framed;
}
