import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clearOf, everywhere, notification } from '#test/support/model-log.ts';
import { PanelStreamWorld, panel, turn } from '#test/support/panel-stream-world.ts';
import type { Notification } from '../ports.ts';
import { reaches, type Target } from '../target.ts';

const target = fc.constantFrom<Target>(
  { all: true, ids: [], tags: [] },
  { all: false, ids: ['p1'], tags: [] },
  { all: false, ids: ['p2'], tags: [] },
  { all: false, ids: [], tags: ['noc'] },
  { all: false, ids: [], tags: ['lab'] },
  { all: false, ids: [], tags: [] },
);
const targets = fc.array(target, { minLength: 1, maxLength: 6 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('publish' as const), targets }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('take' as const), turns: fc.integer({ min: 1, max: 5 }) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'reconnect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
);
const to = (target: Target) => (position: number) =>
  notification(position, { route: { ...everywhere, target } });

test('each entry that is for the panel is sent once and in order, over any number of reconnects', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 1, max: 8 }),
      async (steps, bufferFrames) => {
        const world = new PanelStreamWorld({ bufferFrames });
        world.log.delay = turn;
        const received: number[] = [];
        let last = 'e1-0';
        /** What a real client keeps of a connection that ends: whole events only. */
        const harvest = () => {
          received.push(...world.client.positions());
          for (const { id } of world.client.events()) if (id) last = id;
        };
        let started = world.start(last);
        for (const each of steps) {
          if (each.kind === 'publish') world.publish(...each.targets.map(to));
          else if (each.kind === 'clear') world.publish((position) => clearOf(position, 0));
          else if (each.kind === 'take') await world.take(each.turns);
          else {
            await started;
            harvest();
            world.reconnect();
            started = world.start(last);
          }
        }
        await started;
        await world.take(120);
        harvest();
        world.stream.destroy();
        const expected = world.log.entries
          .filter((entry): entry is Notification => reaches(entry.route.target, panel))
          .map(({ position }) => position);
        expect(received).toEqual(expected);
      },
    ),
    { numRuns: 80 },
  );
}, 60_000);
