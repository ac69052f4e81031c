/** Set-up of every test file: attaches the output of servers and commands to failed tests. */
import { afterEach, beforeEach } from 'vitest';
import { takeNotes } from './failure-notes.ts';

declare module 'vitest' {
  interface TaskMeta {
    notes?: string;
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
  if (task.result?.state === 'fail') task.meta.notes = takeNotes();
});
