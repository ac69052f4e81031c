/**
 * Loaded into a server before anything else (`node --import`), its threads included: puts one defect into one source file
 * as it is read. The product itself has no such switch.
 */
import { registerHooks } from 'node:module';
import { type DefectName, defects } from './defects.ts';

const name = process.env.TORTURE_DEFECT as DefectName;
const { file, changes } = defects[name];

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (!url.endsWith(`/src/${file}`)) return loaded;
    let source = String(loaded.source);
    for (const [sound, defective] of changes) {
      if (!source.includes(sound)) throw new Error(`the defect ${name} finds no place in ${file}: ${sound}`);
      source = source.replace(sound, defective);
    }
    return { ...loaded, source };
  },
});
