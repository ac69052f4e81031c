import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { Io } from '../io.ts';
import { LiveScreen } from './screen-view.ts';

class FakeStdout extends EventEmitter {
  written: string[] = [];
  columns = 40;
  rows = 10;
  writableNeedDrain = false;
  write(text: string): boolean {
    this.written.push(text);
    return true;
  }
}

class FakeStdin extends EventEmitter {
  isTTY = true;
  raw = false;
  reading = false;
  setRawMode(raw: boolean): void {
    this.raw = raw;
  }
  resume(): void {
    this.reading = true;
  }
  pause(): void {
    this.reading = false;
  }
}

function openScreen() {
  const stdout = new FakeStdout();
  const stdin = new FakeStdin();
  const ends = new Set<() => void>();
  let resized = 0;
  let left = 0;
  const io = {
    stdout,
    stdin,
    onEnd(callback: () => void) {
      ends.add(callback);
      return () => ends.delete(callback);
    },
  } as unknown as Io;
  const screen = new LiveScreen(io, {
    onResize: () => {
      resized += 1;
    },
    onLeave: () => {
      left += 1;
    },
  });
  return { screen, stdout, stdin, ends, counts: () => ({ resized, left }) };
}

test('it takes the whole terminal, and gives it back as it was', () => {
  const { screen, stdout, stdin, ends } = openScreen();
  expect(stdout.written.join('')).toContain('\x1b[?1049h');
  expect(stdin).toMatchObject({ raw: true, reading: true });
  screen.close();
  screen.close();
  expect(stdout.written.filter((text) => text.includes('\x1b[?1049l'))).toHaveLength(1);
  expect(stdout.written.at(-1)).toContain('\x1b[?25h');
  expect(stdin).toMatchObject({ raw: false, reading: false });
  expect([stdout.listenerCount('resize'), stdin.listenerCount('data'), ends.size]).toEqual([0, 0, 0]);
});

test('a process that dies gives it back, too', () => {
  const { stdout, stdin, ends } = openScreen();
  for (const end of [...ends]) end();
  expect(stdout.written.at(-1)).toContain('\x1b[?1049l');
  expect(stdin.raw).toBe(false);
});

test('a frame is written once, and again after the size changed', () => {
  const { screen, stdout, counts } = openScreen();
  const before = stdout.written.length;
  screen.draw(['a', 'b']);
  screen.draw(['a', 'b']);
  expect(stdout.written.length).toBe(before + 1);
  expect(stdout.written.at(-1)).toBe('\x1b[?2026h\x1b[H\x1b[2Ka\r\n\x1b[2Kb\x1b[?2026l');
  stdout.emit('resize');
  expect(counts().resized).toBe(1);
  screen.draw(['a', 'b']);
  expect(stdout.written.length).toBe(before + 2);
});

test('a terminal that lags behind skips frames, and nothing piles up', () => {
  const { screen, stdout } = openScreen();
  stdout.writableNeedDrain = true;
  const before = stdout.written.length;
  screen.draw(['a']);
  expect(stdout.written.length).toBe(before);
  stdout.writableNeedDrain = false;
  screen.draw(['a']);
  expect(stdout.written.length).toBe(before + 1);
});

test('q and Ctrl-C leave, other keys do not', () => {
  const { stdin, counts } = openScreen();
  for (const key of ['x', '\x1b[A', '\x1a']) stdin.emit('data', Buffer.from(key));
  expect(counts().left).toBe(0);
  for (const key of ['q', 'Q', '\x03']) stdin.emit('data', Buffer.from(key));
  expect(counts().left).toBe(3);
});
