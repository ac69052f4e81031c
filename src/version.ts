import manifest from '../package.json' with { type: 'json' };

/** This Belfry's version, as in package.json. */
export const version: string = manifest.version;
