/** Everything the dashboard says, in English, pages that the same people read together share a file. Every other language has the same keys. */
export { account, entry } from './en/account.ts';
export { alarms } from './en/alarms.ts';
export { audit } from './en/audit.ts';
export { history } from './en/history.ts';
export { onCall } from './en/on-call.ts';
export { overview } from './en/overview.ts';
export { panels } from './en/panels.ts';
export { ruleSentence } from './en/rule-sentence.ts';
export { rules } from './en/rules.ts';
export { integrations, tokens, welcome } from './en/sending.ts';
export { channels, expectations, levels, members, tenant } from './en/settings.ts';
export { shell } from './en/shell.ts';
