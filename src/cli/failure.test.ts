import { expect, test } from 'vitest';
import { databaseFailure, Failure, outputFailure } from './failure.ts';

test('the message about a full disk names the disk of the backup, or that of the database', () => {
  for (const code of ['SQLITE_FULL', 'ENOSPC', 'EDQUOT']) {
    const error = Object.assign(new Error('full'), { code });
    expect(outputFailure(error, '/mnt/backup.db')).toEqual(
      new Failure('no space left for /mnt/backup.db: name a file on another disk'),
    );
    expect(databaseFailure(error, { kind: 'sqlite', path: '/data/belfry.db' })).toEqual(
      new Failure('no space left for /data/belfry.db: make room on its disk'),
    );
  }
});

test('a folder that this user may not enter is an error of one line', () => {
  const error = Object.assign(new Error('EACCES: permission denied, stat'), { code: 'EACCES' });
  // No test as root is refused by permissions, but by a name that is too long.
  const path = `/${'x'.repeat(300)}/belfry.db`;
  expect(databaseFailure(error, { kind: 'sqlite', path })).toMatchObject({
    name: 'Failure',
    message: expect.stringMatching(/^cannot write .*this user must be able to write/),
  });
});

test.each([
  ['SQLITE_IOERR_SHMSIZE', 'disk I/O error', 'SQLITE_IOERR_SHMSIZE'],
  ['SQLITE_IOERR_WRITE', 'disk I/O error', 'SQLITE_IOERR_WRITE'],
  ['EIO', 'i/o error, write', 'EIO'],
  [
    'unavailable',
    'not stored: the disk refused the write (database or disk is full)',
    'not stored: the disk refused the write (database or disk is full)',
  ],
])(
  'an error of the disk (%s: %s) is one line that names the disk and what to do',
  (code, message, reason) => {
    const error = Object.assign(new Error(message), { code });
    expect(databaseFailure(error, { kind: 'sqlite', path: '/data/belfry.db' })).toEqual(
      new Failure(
        `the disk of /data/belfry.db is full or fails (${reason}): make room on it, or check it for errors`,
      ),
    );
  },
);

const postgres = {
  kind: 'postgres',
  url: 'postgres://belfry:secret@db/belfry?sslmode=verify-full',
} as const;
/** As PostgreSQL's storage throws it. */
const unavailable = (message: string, code?: string) =>
  Object.assign(
    new Error('not available', { cause: Object.assign(new Error(message), code !== undefined && { code }) }),
    { code: 'unavailable' },
  );

test('why PostgreSQL cannot be used is said, also where the reason has no code', () => {
  expect(databaseFailure(unavailable('Connection terminated unexpectedly'), postgres)).toEqual(
    new Failure(
      'cannot use PostgreSQL at db/belfry (Connection terminated unexpectedly): check BELFRY_DATABASE_URL, and that the server runs',
    ),
  );
});

test.each([
  [undefined, 'The server does not support SSL connections', 'The server does not support SSL connections'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'self-signed certificate in chain', 'self-signed certificate in chain'],
  [
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'C0:error:0A000418\nalert number 48\n',
    'C0:error:0A000418; alert number 48',
  ],
  [
    'EPROTO',
    'write EPROTO 40:error:0A000410:handshake failure\n',
    'write EPROTO 40:error:0A000410:handshake failure',
  ],
])('an error of TLS (%s) is one line that says what to check', (code, message, reason) => {
  expect(databaseFailure(unavailable(message, code), postgres)).toEqual(
    new Failure(
      `cannot use PostgreSQL at db/belfry (${reason}): check sslmode and sslrootcert in BELFRY_DATABASE_URL, and the certificate of the server`,
    ),
  );
});

test.each([
  ['28P01', 'password authentication failed for user "belfry"'],
  [undefined, 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'],
])('a wrong or missing password (%s) is one line that says what to check', (code, message) => {
  expect(databaseFailure(unavailable(message, code), postgres)).toEqual(
    new Failure(
      `cannot use PostgreSQL at db/belfry (${message}): check user and password in BELFRY_DATABASE_URL, PGPASSWORD or PGPASSFILE`,
    ),
  );
});

test('a missing file of sslrootcert is an error of TLS, too; other files are not those of PostgreSQL', () => {
  const error = Object.assign(new Error("ENOENT: no such file or directory, open '/ca.pem'"), {
    ...{ code: 'ENOENT', syscall: 'open', path: '/ca.pem' },
  });
  const url = `${postgres.url}&sslrootcert=/ca.pem`;
  expect(databaseFailure(error, { ...postgres, url })).toMatchObject({
    name: 'Failure',
    message: expect.stringContaining("open '/ca.pem'): check sslmode and sslrootcert"),
  });
  expect(databaseFailure(error, postgres)).toBe(error);
});

test('a full disk of PostgreSQL is named as the disk of the database', () => {
  expect(
    databaseFailure(
      unavailable('could not extend file "base/1": No space left on device', '53100'),
      postgres,
    ),
  ).toEqual(
    new Failure(
      'no space left on the disk of PostgreSQL at db/belfry (could not extend file "base/1": No space left on device): make room there',
    ),
  );
});

test('where a user of PostgreSQL lacks a right, the message names that right', () => {
  const error = Object.assign(new Error('permission denied for schema public'), { code: '42501' });
  const database = { kind: 'postgres', url: 'postgres://belfry:secret@db/belfry' } as const;
  expect(databaseFailure(error, database)).toEqual(
    new Failure(
      'the user of BELFRY_DATABASE_URL may not set up db/belfry (permission denied for schema public): make it the owner of the database',
    ),
  );
});
