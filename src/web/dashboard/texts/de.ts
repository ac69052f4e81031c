/** The same in German. Pages are loaded one by one all the same. */
export { account, entry } from './de/account.ts';
export { alarms } from './de/alarms.ts';
export { audit } from './de/audit.ts';
export { history } from './de/history.ts';
export { onCall } from './de/on-call.ts';
export { overview } from './de/overview.ts';
export { panels } from './de/panels.ts';
export { ruleSentence } from './de/rule-sentence.ts';
export { rules } from './de/rules.ts';
export { integrations, tokens, welcome } from './de/sending.ts';
export { channels, expectations, levels, members, tenant } from './de/settings.ts';
export { shell } from './de/shell.ts';
