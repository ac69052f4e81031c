import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { RawConnection } from '#test/support/raw-http.ts';
import { report } from '../report.ts';
import { describeBehind } from './behind.ts';
import { caddy, nginx, nothing } from './proxy.ts';
import { attacks } from './smuggling.ts';

describeBehind([nothing, nginx, caddy], {}, (behind) => {
  const { kind } = behind;
  const send = async (title: string): Promise<string> => {
    const response = await behind.post('/api/notify', { title, message: 'M' });
    return ((await response.json()) as { id: string }).id;
  };

  test('no request is smuggled past it, and no client gets another client’s answer', async () => {
    let seconds = 0;
    for (const [i, [name, make]] of attacks.entries()) {
      const mark = `smuggled ${i}`;
      const attacker = await RawConnection.open(behind.proxy.url);
      await attacker.write(make(behind.bearer().authorization, mark));
      const answered = attacker.next(2).catch(() => undefined);
      await Promise.race([answered, sleep(700)]);
      const victims = new Map<string, string>();
      for (let victim = 0; victim < 3; victim++) {
        const title = `victim ${i} ${victim}`;
        victims.set(title, await send(title));
      }
      const storedOf = (history: { title: string }[]) => history.filter(({ title }) => title === mark).length;
      // On a busy machine the answer to what is stored comes later.
      const count = storedOf(await behind.history());
      if (count > 0) await attacker.next(1 + count).catch(() => undefined);
      attacker.close();
      const history = await behind.history();
      for (const [title, id] of victims)
        expect([name, history.find((each) => each.id === id)?.title]).toEqual([name, title]);
      const stored = storedOf(history);
      // A second request is one that its sender is answered for, or it was none.
      const welcomed = attacker.answers.slice(1).filter(({ status }) => status === 200).length;
      expect([name, stored <= welcomed]).toEqual([name, true]);
      seconds += stored;
    }
    report({
      promise: kind === nothing ? 'nothing is smuggled' : `nothing is smuggled through ${kind.name}`,
      method:
        'lengths and codings that two parsers may read differently, each followed by other clients on shared connections',
      count: `${attacks.length} forms, ${attacks.length * 3} other clients`,
      result: `0 smuggled, 0 answers to the wrong client; ${seconds} times what followed was a request of its own, answered to its sender`,
    });
  });
});
