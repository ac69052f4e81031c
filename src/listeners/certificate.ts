/** The certificate of the listeners, read again when its files change: a renewal needs no restart. */
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { ListenerLog } from './intake.ts';

interface TlsFiles {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const everyMs = 60_000;

export class Certificate {
  readonly #files: CertificateFiles;
  readonly #log: ListenerLog;
  readonly #uses = new Set<(files: TlsFiles) => void>();
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** The last content of the files, valid or not. */
  #seen: TlsFiles;
  current: TlsFiles;

  private constructor(files: CertificateFiles, current: TlsFiles, log: ListenerLog, every: number) {
    this.#files = files;
    this.#seen = current;
    this.current = current;
    this.#log = log;
    this.#everyMs = every;
  }

  /** @throws Error when the files cannot be read. */
  static async read(files: CertificateFiles, log: ListenerLog, every = everyMs): Promise<Certificate> {
    return new Certificate(files, await readBoth(files), log, every);
  }

  /** Calls back with each renewed certificate, until the function that it returns is called. */
  onRenewal(use: (files: TlsFiles) => void): () => void {
    this.#uses.add(use);
    this.#timer ??= setInterval(() => void this.#look(), this.#everyMs).unref();
    return () => {
      this.#uses.delete(use);
      if (this.#uses.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #look(): Promise<void> {
    try {
      const found = await readBoth(this.#files);
      if (found.cert.equals(this.#seen.cert) && found.key.equals(this.#seen.key)) return;
      this.#seen = found;
      // Throws if only one of the two files has been replaced so far.
      createSecureContext(found);
      this.current = found;
      for (const use of this.#uses) use(found);
      this.#log.info('the certificate of the listeners was renewed');
    } catch (error) {
      this.#log.warn(
        { err: error },
        'the renewed certificate of the listeners cannot be used; the old one stays',
      );
    }
  }
}

async function readBoth({ certFile, keyFile }: CertificateFiles): Promise<TlsFiles> {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key };
}
