/** Opens the listeners that the settings name: all of them, or none. Each is loaded only then. */
import { readFile } from 'node:fs/promises';
import type { ListenAddress, Listener, ListenerIntake, ListenerLog } from './intake.ts';
import type { SyslogSeverity } from './syslog-message.ts';

export interface ListenersConfig {
  readonly syslog: {
    readonly udp: ListenAddress | undefined;
    readonly tcp: ListenAddress | undefined;
    readonly tls: ListenAddress | undefined;
    readonly token: string;
    readonly allow: readonly string[];
    readonly least: SyslogSeverity;
  };
  readonly smtp: ListenAddress | undefined;
  readonly tlsFiles: { readonly certFile: string; readonly keyFile: string } | undefined;
}

/** @throws Error when a port is taken, or a certificate cannot be read. */
export async function openListeners(
  { syslog, smtp, tlsFiles }: ListenersConfig,
  intake: ListenerIntake,
  log: ListenerLog,
): Promise<readonly Listener[]> {
  const tls = tlsFiles && {
    cert: await readFile(tlsFiles.certFile),
    key: await readFile(tlsFiles.keyFile),
  };
  const opened: Listener[] = [];
  try {
    if (syslog.udp || syslog.tcp || syslog.tls) {
      const { SyslogReceiver } = await import('./syslog.ts');
      const receiver = new SyslogReceiver(intake, syslog, log);
      if (syslog.udp) opened.push(await receiver.listenUdp(syslog.udp));
      if (syslog.tcp) opened.push(await receiver.listenTcp(syslog.tcp));
      if (syslog.tls && tls) opened.push(await receiver.listenTls(syslog.tls, tls));
    }
    if (smtp) {
      const { listenSmtp } = await import('./smtp.ts');
      opened.push(await listenSmtp(smtp, { intake, log, tls }));
    }
  } catch (error) {
    await Promise.all(opened.map((listener) => listener.close()));
    throw error;
  }
  for (const { name, port } of opened) log.info(`${name} listens on port ${port}`);
  return opened;
}
