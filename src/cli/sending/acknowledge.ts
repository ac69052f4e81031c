import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { serverClient } from '../server-client.ts';
import { visibleText } from '../terminal-text.ts';

/** `belfry ack`: says that somebody has seen a notification. */
export function addAcknowledge(program: Command, io: Io): void {
  program
    .command('ack')
    .summary('acknowledge a notification')
    .description(
      'acknowledge a notification, so that every panel shows who takes care of it; BELFRY_TOKEN is a token with the panel scope, or an automation key',
    )
    .argument('<id>', 'the id that belfry send printed')
    .option('--note <text>', 'for the others, as in "on my way"')
    .addHelpText(
      'after',
      `\nExample:\n  ${io.program} ack 0199c0de-7abc-7def-8123-456789abcdef --note "on my way"`,
    )
    .action(async (id: string, { note }: { note?: string }) => {
      const {
        first,
        acknowledged,
        id: standing,
      } = await serverClient(io, 'panel').ask((client) => client.acknowledge(id, note));
      const { by, at } = acknowledged;
      const replaced = standing === id.toLowerCase() ? '' : ` (${visibleText(standing)} has replaced it)`;
      io.stdout.write(
        first
          ? `acknowledged${replaced}\n`
          : `already acknowledged by ${visibleText(by)} at ${visibleText(at)}${replaced}\n`,
      );
    });
}
