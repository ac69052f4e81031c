/** Prints the path of a Node that is new enough, which is fetched when this one is not. Works on any Node from 18 on. */
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWith } from './child.mjs';
import { ensureNode } from './node-runtime.mjs';

try {
  const node = await ensureNode(resolve(dirname(fileURLToPath(import.meta.url)), '..'));
  process.stdout.write(`${node}\n`);
} catch (error) {
  endWith(error);
}
