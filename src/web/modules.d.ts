/** What only the build knows. */
declare module '*.css';

/** Made by vite.config.ts: the outlines of Tabler's icons, by name, as SVG path data on a field of 24 × 24. */
declare module 'virtual:icons' {
  export const iconPaths: Readonly<Record<string, readonly string[]>>;
}
