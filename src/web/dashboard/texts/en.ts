/** Everything the dashboard says, in English, a file a page. Every other language has the same keys. */
export { account } from './en/account.ts';
export { audit } from './en/audit.ts';
export { channels } from './en/channels.ts';
export { entry } from './en/entry.ts';
export { expectations } from './en/expectations.ts';
export { history } from './en/history.ts';
export { integrations } from './en/integrations.ts';
export { levels } from './en/levels.ts';
export { members } from './en/members.ts';
export { overview } from './en/overview.ts';
export { panels } from './en/panels.ts';
export { ruleSentence } from './en/rule-sentence.ts';
export { rules } from './en/rules.ts';
export { shell } from './en/shell.ts';
export { tenant } from './en/tenant.ts';
export { tokens } from './en/tokens.ts';
export { welcome } from './en/welcome.ts';
