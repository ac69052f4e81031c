/** The pages of the documentation site, in reading order. A test fails when a file of docs/ is missing here. */

export interface PageGroup {
  readonly title: string;
  /** From the checkout's root. One that is not written yet is left out. */
  readonly files: readonly string[];
}

export const navigation: readonly PageGroup[] = [
  { title: 'Start', files: ['docs/README.md', 'docs/quick-start.md'] },
  {
    title: 'Send',
    files: ['docs/sending.md', 'docs/integrations.md', 'docs/listeners.md', 'docs/clients.md'],
  },
  { title: 'Show', files: ['docs/panels.md', 'docs/kiosk.md', 'docs/phones.md'] },
  {
    title: 'Route and search',
    files: [
      'docs/rules.md',
      'docs/alarms.md',
      'docs/attention.md',
      'docs/on-call.md',
      'docs/channels.md',
      'docs/search.md',
    ],
  },
  {
    title: 'Operate',
    files: [
      'docs/operations.md',
      'docs/monitoring.md',
      'docs/postgresql.md',
      'docs/configuration.md',
      'docs/configuration-as-code.md',
      'docs/command-line.md',
      'docs/accounts.md',
      'docs/security.md',
      'docs/scale.md',
      'docs/performance.md',
      'docs/reliability.md',
      'docs/migration.md',
    ],
  },
  {
    title: 'Reference',
    files: [
      'GLOSSARY.md',
      'CHANGELOG.md',
      'ARCHITECTURE.md',
      'SECURITY.md',
      'CONTRIBUTING.md',
      'docs/releasing.md',
      'bench/RESULTS.md',
      'bench/notebook.md',
    ],
  },
];

/** The address of a page below /docs/: `docs/adr/0001-x.md` is adr/0001-x, `GLOSSARY.md` is glossary. */
export function addressOf(file: string): string {
  if (file === 'docs/README.md') return '';
  const name = file.replace(/^docs\//, '').replace(/\.md$/, '');
  // Two files of this name would be one page.
  return file === 'SECURITY.md'
    ? 'reporting-vulnerabilities'
    : name.replaceAll('/', '-').replace(/^adr-/, 'adr/').toLowerCase();
}
