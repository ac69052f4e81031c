/** Opens the listeners that the settings name: all of them, or none. Only those are loaded. */
import type { SharedLease } from '#core/streams/nodes.ts';
import { Certificate, type CertificateFiles } from './certificate.ts';
import type { ListenAddress, Listener, ListenerIntake, ListenerLog, ReplyIntake } from './intake.ts';
import type { MqttOptions } from './mqtt.ts';
import type { SyslogSeverity } from './syslog-message.ts';

interface ListenersConfig {
  readonly syslog: {
    readonly udp: ListenAddress | undefined;
    readonly tcp: ListenAddress | undefined;
    readonly tls: ListenAddress | undefined;
    readonly token: string;
    readonly allow: readonly string[];
    readonly least: SyslogSeverity;
  };
  readonly smtp: (ListenAddress & { readonly allow: readonly string[] }) | undefined;
  readonly mqtt: MqttOptions | undefined;
  readonly tlsFiles: CertificateFiles | undefined;
}

interface ListenersOptions {
  readonly intake: ListenerIntake & ReplyIntake;
  readonly log: ListenerLog;
  /** undefined: this is the only node. */
  readonly leaseOf: ((name: string) => SharedLease) | undefined;
}

/** @throws Error when a port is taken, or a certificate cannot be read. */
export async function openListeners(
  { syslog, smtp, mqtt, tlsFiles }: ListenersConfig,
  { intake, log, leaseOf }: ListenersOptions,
): Promise<readonly Listener[]> {
  const certificate = tlsFiles && (await Certificate.read(tlsFiles, log));
  const opened: Listener[] = [];
  try {
    if (syslog.udp || syslog.tcp || syslog.tls) {
      const { SyslogReceiver } = await import('./syslog.ts');
      const receiver = new SyslogReceiver(intake, syslog, log);
      if (syslog.udp) opened.push(await receiver.listenUdp(syslog.udp));
      if (syslog.tcp) opened.push(await receiver.listenTcp(syslog.tcp));
      if (syslog.tls && certificate) opened.push(await receiver.listenTls(syslog.tls, certificate));
    }
    if (smtp) {
      const { listenSmtp } = await import('./smtp.ts');
      opened.push(await listenSmtp(smtp, { intake, log, certificate }));
    }
    if (mqtt) {
      const { MqttSubscriber } = await import('./mqtt.ts');
      opened.push(new MqttSubscriber(mqtt, { intake, log, lease: leaseOf?.('mqtt') }));
    }
  } catch (error) {
    await Promise.all(opened.map((listener) => listener.close()));
    throw error;
  }
  for (const { name, port } of opened) if (port !== undefined) log.info(`${name} listens on port ${port}`);
  return opened;
}
