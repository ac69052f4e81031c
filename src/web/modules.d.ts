/** What only the build knows. */
declare module '*.css';

/** Made by vite.config.ts: the outlines of Tabler's icons, by name, as SVG path data on a field of 24 × 24. */
declare module 'virtual:icons' {
  export const iconPaths: Readonly<Record<string, readonly string[]>>;
}

/** Made by vite.config.ts: the version in package.json. */
declare module 'virtual:version' {
  export const version: string;
}

/** One of Tabler's outline icons alone, as `virtual:icon/search`. */
declare module 'virtual:icon/*' {
  const paths: readonly string[];
  export default paths;
}

declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>;
  export default classes;
}

interface ImportMeta {
  /** The modules at the paths that fit, each with how to load it. */
  glob<Module>(pattern: string): Readonly<Record<string, () => Promise<Module>>>;
}
