import { CommanderError } from 'commander';
import { ApiError } from '#client/api-error.ts';
import { EndedWith, Failure } from './failure.ts';
import { visibleText } from './terminal-text.ts';

export interface ErrorMessage {
  /** For stderr, one line each. */
  readonly lines: readonly string[];
  readonly exitCode: number;
}

/** Turns any error into a message and an exit code. An unexpected error is shown with its stack. */
export function errorMessage(error: unknown): ErrorMessage {
  if (error instanceof Failure) return { lines: error.message.split('\n'), exitCode: error.exitCode };
  if (error instanceof EndedWith) return { lines: [], exitCode: error.exitCode };
  if (error instanceof CommanderError) return commanderMessage(error);
  if (error instanceof ApiError)
    return { lines: [visibleText(error.message)], exitCode: error.status === 400 ? 2 : 1 };
  if (isConfigError(error)) return { lines: error.problems, exitCode: 2 };
  if (isAppError(error)) return { lines: [error.message], exitCode: error.code === 'bad-request' ? 2 : 1 };
  const unexpected = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { lines: [`unexpected: ${unexpected}`], exitCode: 1 };
}

/** Requested help is not an error. Help is one when no command was named; it was printed already. */
function commanderMessage(error: CommanderError): ErrorMessage {
  if (error.exitCode === 0) return { lines: [], exitCode: 0 };
  if (error.code === 'commander.help') return { lines: [], exitCode: 2 };
  const message = error.message
    .replace(/^error: /, '')
    .replace('(Did', '(did')
    .replace(/\.$/, '');
  return { lines: [message.replaceAll('\n', ' ')], exitCode: 2 };
}

/** This error and the next are recognised by name, because importing their classes would load the whole server. */
function isConfigError(error: unknown): error is Error & { problems: readonly string[] } {
  return error instanceof Error && error.name === 'ConfigError' && 'problems' in error;
}

function isAppError(error: unknown): error is Error & { code: string } {
  return error instanceof Error && error.name === 'AppError' && 'code' in error;
}
