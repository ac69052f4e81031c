/** Set-up of every test file: attaches the output of servers and commands to failed tests, and to those of a second try. */
import { afterEach, beforeEach, inject } from 'vitest';
import { takeNotes } from './failure-notes.ts';

declare module 'vitest' {
  interface TaskMeta {
    notes?: string;
  }
  interface ProvidedContext {
    /** The file failed, and runs again: what is printed now is kept also if the test passes. */
    isSecondTry?: true;
  }
}

// A worker runs this again for each file. What is printed before a file's first test stays: it shows how the server started.
takeNotes();
let isFirst = true;
beforeEach(() => {
  if (!isFirst) takeNotes();
  isFirst = false;
});

afterEach(({ task }) => {
  if (task.result?.state === 'fail' || inject('isSecondTry')) task.meta.notes = takeNotes();
});
