/** Defects that the torture tests must catch: each is a mistake that a later change could make in earnest. */

interface Defect {
  /** Below src. */
  readonly file: string;
  /** What stands there, and what stands there instead. */
  readonly changes: readonly (readonly [sound: string, defective: string])[];
}

export const defects = {
  /** What the driver does of itself: the write-ahead log is not synced at commit. */
  'synchronous-normal': {
    file: 'storage/sqlite/file/database-file.ts',
    changes: [
      ["db.pragma('synchronous = FULL')", "db.pragma('synchronous = NORMAL')"],
      ["assertPragma(db, 'synchronous', 2)", "assertPragma(db, 'synchronous', 1)"],
    ],
  },
  'answer-before-commit': {
    file: 'storage/sqlite/history.ts',
    changes: [
      [
        "const result = await queue.push('append', tenant, toRow(draft), idempotency, toEscalation(terms));",
        `const pushed = queue.push('append', tenant, toRow(draft), idempotency, toEscalation(terms));
    pushed.catch(() => undefined);
    const result = { kind: 'stored' as const, position: 0, clears: [] };`,
      ],
    ],
  },
  /** Numbers are handed out by the process, and a transaction that is rolled back has used some up. */
  'bare-counter': {
    file: 'storage/sqlite/log/tenant-log.ts',
    changes: [
      ['export class TenantLogs', 'const counters = new Map<number, number>();\nexport class TenantLogs'],
      [
        'log.head += 1;',
        'log.head = (counters.get(tenant) ?? log.head) + 1;\n    counters.set(tenant, log.head);',
      ],
    ],
  },
  /** A panel that comes back is given what is in memory, and not what it missed before that. */
  'buffer-without-replay': {
    file: 'core/streams/panel-stream.ts',
    changes: [
      [
        'if (this.#cursor < Math.max(buffer.floor, this.#pastUntil)) return this.#catchUp();',
        'if (this.#cursor < buffer.floor) { this.#cursor = buffer.floor; continue; }',
      ],
    ],
  },
  /** No mistake but a probe: by this it is measured what a refusal costs. */
  'refuses-all': {
    file: 'http/intake/overload.ts',
    changes: [['if (gate.isShut) {', 'if (isIntake(path)) {']],
  },
} satisfies Record<string, Defect>;

export type DefectName = keyof typeof defects;

/** Settings with which a server starts with the defect in it. */
export function withDefect(name: DefectName): Record<string, string> {
  return {
    TORTURE_DEFECT: name,
    NODE_OPTIONS: `--import=${new URL('./put-in-defect.ts', import.meta.url).href} --disable-warning=ExperimentalWarning`,
  };
}
