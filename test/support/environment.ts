import { storeSettings } from './test-store.ts';

/** The environment of a test's server, without a developer's own settings. */
export function environment(folder: string, own: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('BELFRY_'));
  return {
    ...Object.fromEntries(inherited),
    BELFRY_HOST: '127.0.0.1',
    ...(own.BELFRY_DATABASE_URL === undefined && storeSettings(folder)),
    BELFRY_LOG_FORMAT: 'json',
    BELFRY_MIN_FREE_BYTES: '0',
    BELFRY_RATE_TOKEN: 'off',
    BELFRY_RATE_TENANT: 'off',
    BELFRY_RATE_API: 'off',
    ...own,
  };
}
