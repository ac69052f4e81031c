import { hostname } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import type { Io } from './io.ts';
import { readName } from './options.ts';
import { serverClient } from './server-client.ts';
import { followPanel } from './tail/follow-panel.ts';
import { PlainView } from './tail/plain-view.ts';
import { ScreenView } from './tail/screen-view.ts';

/** `belfry tail`: a panel, in this terminal. */
export function addTail(program: Command, io: Io): void {
  program
    .command('tail')
    .summary('watch a panel in this terminal')
    .description(
      'show a panel of the server at BELFRY_URL, with the token in BELFRY_TOKEN: a live view in a terminal, otherwise one line for each event',
    )
    .option(
      '--panel <name>',
      "the panel's name; it is created if there is none (default: this machine's name)",
      readPanelName,
    )
    .addHelpText(
      'after',
      `\nExamples:\n  ${io.program} tail --panel desk\n  ${io.program} tail --panel log >> panel.log`,
    )
    .action(async ({ panel: name = hostname().slice(0, 100) }: { panel?: string }) => {
      const server = serverClient(io, 'panel');
      await server.ask(async (client) => {
        const panel = await client.registerPanel({ name });
        const stop = new AbortController();
        const leave = () => stop.abort();
        const forget = io.onSignal(leave);
        io.stdout.once('error', leave);
        const open = (onShown: (ids: readonly string[]) => void) =>
          io.stdout.isTTY
            ? new ScreenView(io, { name: panel.name, onShown, onLeave: leave })
            : new PlainView(io, { url: server.url, onShown });
        const screen = `tail/${io.version}`;
        await followPanel({ client, panelId: panel.id, screen, open, signal: stop.signal }).finally(forget);
      });
    });
}

function readPanelName(text: string): string {
  if (text !== text.trim()) throw new InvalidArgumentError('It must not begin or end with a space.');
  return readName(text);
}
