/** Everything the dashboard says, in English, a file a page. Every other language has the same keys. */
import { account } from './en/account.ts';
import { channels } from './en/channels.ts';
import { entry } from './en/entry.ts';
import { expectations } from './en/expectations.ts';
import { history } from './en/history.ts';
import { integrations } from './en/integrations.ts';
import { levels } from './en/levels.ts';
import { members } from './en/members.ts';
import { overview } from './en/overview.ts';
import { panels } from './en/panels.ts';
import { ruleSentence } from './en/rule-sentence.ts';
import { rules } from './en/rules.ts';
import { shell } from './en/shell.ts';
import { tenant } from './en/tenant.ts';
import { tokens } from './en/tokens.ts';
import { welcome } from './en/welcome.ts';

export const en = {
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
} as const;

/** A whole language: the keys of English, none missing and none invented. */
export type Translated = {
  readonly [Page in keyof typeof en]: Readonly<Record<keyof (typeof en)[Page], string>>;
};

/** One page of a language. */
export type TranslatedPage<Page extends keyof typeof en> = Translated[Page];
