import { expect, test } from 'vitest';
import { databaseFailure, Failure, outputFailure } from './failure.ts';

test('the message about a full disk names the disk of the backup, or that of the database', () => {
  for (const code of ['SQLITE_FULL', 'ENOSPC']) {
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

test('why PostgreSQL cannot be used is said, also where the reason has no code', () => {
  const cause = new Error('The server does not support SSL connections');
  const error = Object.assign(new Error('not available', { cause }), { code: 'unavailable' });
  const database = {
    kind: 'postgres',
    url: 'postgres://belfry:secret@db/belfry?sslmode=verify-full',
  } as const;
  expect(databaseFailure(error, database)).toEqual(
    new Failure(
      'cannot use PostgreSQL at db/belfry (The server does not support SSL connections): check BELFRY_DATABASE_URL, and that the server runs',
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
