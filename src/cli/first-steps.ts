import { resolve } from 'node:path';
import type { Config } from '#app.ts';
import type { Io } from './io.ts';

export interface FirstStepsOptions extends Pick<Io, 'env' | 'program' | 'version'> {
  /** Where the server is reached from this machine. */
  readonly url: string;
  readonly config: Config;
  /** While there is no account. */
  readonly setUpSecret: string | undefined;
}

const usualUrl = 'http://127.0.0.1:8080';

/** The message of a server that is ready: its URL, and commands to try in another terminal. */
export function firstSteps({ url, config, env, program, version, setUpSecret }: FirstStepsOptions): string {
  const database = env.BELFRY_DATABASE_URL ? `BELFRY_DATABASE_URL=${quoted(databaseSetting(config))} ` : '';
  const at = url === usualUrl ? '' : `BELFRY_URL=${url} `;
  const second = program.startsWith('npm') ? 'a second terminal, in this folder' : 'a second terminal';
  const base = config.baseUrl ?? url;
  const setUp = setUpSecret === undefined ? '' : `  Set up: ${base}/setup#${setUpSecret}\n\n`;
  return `
  Belfry ${version} is ready at ${base}

${setUp}  Watch a panel, in ${second}:

    export BELFRY_TOKEN=$(${database}${program} token create --name desk)
    ${at}${program} tail

  Send to it, in a third:

    TOKEN=$(${database}${program} token create --name curl)
    curl ${url}/api/notify -H "Authorization: Bearer $TOKEN" \\
      -d '{"title": "Hello", "message": "It works.", "level": "success"}'

  Docs: ${url}/docs
  Data: ${databaseName(config)}
  Stop: Ctrl-C

`;
}

/** Where the data is, without a password. */
export function databaseName({ database }: Config): string {
  if (database.kind === 'sqlite') return resolve(database.path);
  const { protocol, host, pathname } = new URL(database.url);
  return `${protocol}//${host}${pathname}`;
}

/** For commands in any folder. A password is replaced by asterisks; the reader must fill it in. */
function databaseSetting({ database }: Config): string {
  if (database.kind === 'sqlite') return `sqlite:${resolve(database.path)}`;
  const url = new URL(database.url);
  if (url.password) url.password = '********';
  return url.href;
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
