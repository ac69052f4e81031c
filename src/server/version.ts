import manifest from '../../package.json' with { type: 'json' };

/** Set by the build of the server; not defined when the sources run. */
declare const builtFromCommit: string | undefined;

/** This Belfry's version, as in package.json. */
export const version: string = manifest.version;

/** The commit that the server was built from, with "-changed" if files differed from it; undefined if that is not known. */
export const commit: string | undefined =
  (typeof builtFromCommit === 'string' && builtFromCommit) || undefined;

/** As in `0.9.0 (1a2b3c4d5e6f)`. */
export const build: string = commit === undefined ? version : `${version} (${commit})`;
