/** The same in German. Pages are loaded one by one all the same. */
export { account } from './de/account.ts';
export { audit } from './de/audit.ts';
export { channels } from './de/channels.ts';
export { entry } from './de/entry.ts';
export { expectations } from './de/expectations.ts';
export { history } from './de/history.ts';
export { integrations } from './de/integrations.ts';
export { levels } from './de/levels.ts';
export { members } from './de/members.ts';
export { overview } from './de/overview.ts';
export { panels } from './de/panels.ts';
export { ruleSentence } from './de/rule-sentence.ts';
export { rules } from './de/rules.ts';
export { shell } from './de/shell.ts';
export { tenant } from './de/tenant.ts';
export { tokens } from './de/tokens.ts';
export { welcome } from './de/welcome.ts';
