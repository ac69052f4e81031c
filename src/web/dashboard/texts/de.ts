import { account } from './de/account.ts';
import { channels } from './de/channels.ts';
import { entry } from './de/entry.ts';
import { expectations } from './de/expectations.ts';
import { history } from './de/history.ts';
import { integrations } from './de/integrations.ts';
import { levels } from './de/levels.ts';
import { members } from './de/members.ts';
import { overview } from './de/overview.ts';
import { panels } from './de/panels.ts';
import { ruleSentence } from './de/rule-sentence.ts';
import { rules } from './de/rules.ts';
import { shell } from './de/shell.ts';
import { tenant } from './de/tenant.ts';
import { tokens } from './de/tokens.ts';
import { welcome } from './de/welcome.ts';
import type { Translated } from './en.ts';

/** The same in German: a page without its German is an error of types. Pages are loaded one by one all the same. */
export const de: Translated = {
  account,
  channels,
  entry,
  expectations,
  history,
  integrations,
  levels,
  members,
  overview,
  panels,
  ruleSentence,
  rules,
  shell,
  tenant,
  tokens,
  welcome,
};
