import type { Command } from 'commander';
import type { Io } from '../io.ts';
import { jsonOption } from '../options.ts';
import { serverClient } from '../server-client.ts';
import { briefTime, table } from '../terminal-text.ts';

/** `belfry panel`: the panels of a tenant, as its server sees them. */
export function addPanel(program: Command, io: Io): void {
  const panel = program.command('panel').description('list panels');
  panel
    .command('list')
    .description('show the panels that the token in BELFRY_TOKEN may see, and whether they are connected')
    .addOption(jsonOption('an array, one object each'))
    .addHelpText('after', `\nExample:\n  ${io.program} panel list`)
    .action(async ({ json }: { json?: boolean }) => {
      const panels = await serverClient(io, 'panel').ask((client) => client.listPanels());
      const rows = panels.map(({ id, name, tags, online, lag, lastSeenAt }) => [
        id,
        name,
        tags.join(',') || '-',
        online ? 'online' : 'offline',
        String(lag),
        briefTime(lastSeenAt),
      ]);
      io.stdout.write(
        json
          ? `${JSON.stringify(panels, null, 2)}\n`
          : table(['ID', 'NAME', 'TAGS', 'STATE', 'LAG', 'LAST SEEN'], rows),
      );
    });
}
