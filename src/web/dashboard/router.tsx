/** The routes of the dashboard. The URL contains the tenant, the page, the search and the open item. */
import { type QueryClient, useSuspenseQuery } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  Navigate,
  Outlet,
  redirect,
  useLocation,
} from '@tanstack/react-router';
import { type ComponentType, useState } from 'react';
import { sessionQuery } from './api/session.ts';
import { lastTenant, rememberTenant, TenantProvider, useMembership } from './api/tenant.tsx';
import { lazyPart } from './components/lazy-part.tsx';
import { needTexts, type TextsName } from './language.ts';
import {
  readAlarmsSearch,
  readHistorySearch,
  readIntegrationsSearch,
  readListSearch,
  readPanelsSearch,
  readRulesSearch,
  readSignInSearch,
  readStartSearch,
  readTokensSearch,
} from './search-params.ts';
import {
  Crash,
  NotFound,
  NotFoundInTenant,
  NotMember,
  PageNotLoaded,
  Suspended,
} from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';

interface RouterContext {
  readonly queryClient: QueryClient;
}

/** Loads a page lazily, in its own chunk, together with its texts. */
function page<Name extends string>(
  load: () => Promise<Readonly<Record<Name, ComponentType>>>,
  name: Name,
  ...texts: readonly TextsName[]
) {
  return lazyPart(async () => {
    const [module] = await Promise.all([load(), needTexts(...texts)]);
    return module[name];
  }, PageNotLoaded);
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet, notFoundComponent: NotFound });

/** Pages that need a session. Without one, the person is sent to sign-in, which returns here. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: 'signed-in',
  beforeLoad: async ({ context, location }) => {
    const session = await context.queryClient.ensureQueryData(sessionQuery);
    if (session.person) return;
    if (session.needsSetup) throw redirect({ to: '/setup' });
    throw redirect({ to: '/sign-in', search: { to: location.href } });
  },
  component: function SignedInPages() {
    const { data } = useSuspenseQuery(sessionQuery);
    return data.person ? <Outlet /> : <ToSignIn />;
  },
});

/** For a session that ended while a page was open. */
function ToSignIn() {
  const to = useLocation({ select: ({ href }) => href });
  const [search] = useState({ to });
  return <Navigate to="/sign-in" search={search} replace ignoreBlocker />;
}

const start = createRoute({
  getParentRoute: () => signedIn,
  path: '/',
  // The router parses a pairing code of digits as a number; `readStartSearch` converts it back.
  validateSearch: readStartSearch,
  beforeLoad: async ({ context, search }) => {
    const { tenants } = await context.queryClient.ensureQueryData(sessionQuery);
    const tenant = lastTenant(tenants);
    if (tenant === undefined) throw redirect({ to: '/account' });
    if (search.pair !== undefined)
      throw redirect({ to: '/t/$tenant/panels', params: { tenant }, search: { pair: search.pair } });
    throw redirect({ to: '/t/$tenant/overview', params: { tenant } });
  },
});

const tenant = createRoute({
  getParentRoute: () => signedIn,
  path: '/t/$tenant',
  notFoundComponent: NotFoundInTenant,
  component: function TenantPages() {
    const { tenant: name } = tenant.useParams();
    const membership = useMembership(name);
    if (!membership) return <NotMember name={name} />;
    if (membership.suspended) return <Suspended title={membership.title} />;
    rememberTenant(name);
    return (
      // The key remounts the pages when the tenant changes, so that no state is kept.
      <TenantProvider key={name} tenant={membership}>
        <Shell />
      </TenantProvider>
    );
  },
});

const tenantStart = createRoute({
  getParentRoute: () => tenant,
  path: '/',
  component: () => (
    <Navigate to="/t/$tenant/overview" params={{ tenant: tenant.useParams().tenant }} replace />
  ),
});

const alarms = createRoute({
  getParentRoute: () => tenant,
  path: 'alarms',
  validateSearch: readAlarmsSearch,
  component: page(
    () => import('./pages/alarms/alarms-page.tsx'),
    'AlarmsPage',
    'alarms',
    'history',
    'ruleSentence',
  ),
});

const overview = createRoute({
  getParentRoute: () => tenant,
  path: 'overview',
  component: page(() => import('./pages/overview/overview-page.tsx'), 'OverviewPage', 'overview', 'history'),
});

const history = createRoute({
  getParentRoute: () => tenant,
  path: 'history',
  validateSearch: readHistorySearch,
  component: page(() => import('./pages/history/history-page.tsx'), 'HistoryPage', 'history', 'ruleSentence'),
});

const panels = createRoute({
  getParentRoute: () => tenant,
  path: 'panels',
  validateSearch: readPanelsSearch,
  component: page(() => import('./pages/panels/panels-page.tsx'), 'PanelsPage', 'panels'),
});

const rules = createRoute({
  getParentRoute: () => tenant,
  path: 'rules',
  validateSearch: readRulesSearch,
  component: page(
    () => import('./pages/rules/rules-page.tsx'),
    'RulesPage',
    'rules',
    'ruleSentence',
    'history',
  ),
});

const integrations = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/integrations',
  validateSearch: readIntegrationsSearch,
  component: page(
    () => import('./pages/integrations/integrations-page.tsx'),
    'IntegrationsPage',
    'integrations',
    'tokens',
    'welcome',
  ),
});
const tokens = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/tokens',
  validateSearch: readTokensSearch,
  component: page(() => import('./pages/tokens/tokens-page.tsx'), 'TokensPage', 'tokens', 'welcome'),
});
const channels = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/channels',
  validateSearch: readListSearch,
  component: page(() => import('./pages/channels/channels-page.tsx'), 'ChannelsPage', 'channels'),
});
const onCall = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/on-call',
  validateSearch: readListSearch,
  component: page(
    () => import('./pages/on-call/on-call-page.tsx'),
    'OnCallPage',
    'onCall',
    'rules',
    'ruleSentence',
  ),
});
const expectations = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/expectations',
  validateSearch: readListSearch,
  component: page(
    () => import('./pages/expectations/expectations-page.tsx'),
    'ExpectationsPage',
    'expectations',
  ),
});
const levels = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/levels',
  validateSearch: readListSearch,
  component: page(() => import('./pages/levels/levels-page.tsx'), 'LevelsPage', 'levels'),
});
const members = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/members',
  component: page(() => import('./pages/members/members-page.tsx'), 'MembersPage', 'members'),
});
const tenantSettings = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/tenant',
  component: page(() => import('./pages/tenant/tenant-page.tsx'), 'TenantPage', 'tenant'),
});
const audit = createRoute({
  getParentRoute: () => tenant,
  path: 'settings/audit',
  component: page(
    () => import('./pages/members/audit-page.tsx'),
    'AuditPage',
    'audit',
    'channels',
    'ruleSentence',
  ),
});
const welcome = createRoute({
  getParentRoute: () => tenant,
  path: 'welcome',
  component: page(() => import('./pages/setup/welcome-page.tsx'), 'WelcomePage', 'welcome', 'panels'),
});

const account = createRoute({
  getParentRoute: () => signedIn,
  path: '/account',
  component: page(() => import('./pages/account/account-page.tsx'), 'AccountPage', 'account', 'entry'),
});
const newTenant = createRoute({
  getParentRoute: () => signedIn,
  path: '/new-tenant',
  component: page(() => import('./pages/setup/new-tenant-page.tsx'), 'NewTenantPage', 'entry'),
});

/** Pages without a session. */
const open = createRoute({
  getParentRoute: () => root,
  id: 'open',
  beforeLoad: async ({ context }) => void (await context.queryClient.ensureQueryData(sessionQuery)),
});

const signIn = createRoute({
  getParentRoute: () => open,
  path: '/sign-in',
  validateSearch: readSignInSearch,
  component: page(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage', 'entry'),
});
const setup = createRoute({
  getParentRoute: () => open,
  path: '/setup',
  component: page(() => import('./pages/sign-in/setup-page.tsx'), 'SetupPage', 'entry'),
});
const invite = createRoute({
  getParentRoute: () => open,
  path: '/invite',
  component: page(() => import('./pages/sign-in/invite-page.tsx'), 'InvitePage', 'entry'),
});

const routeTree = root.addChildren([
  signedIn.addChildren([
    start,
    tenant.addChildren([
      tenantStart,
      alarms,
      overview,
      history,
      panels,
      rules,
      integrations,
      tokens,
      channels,
      onCall,
      expectations,
      levels,
      members,
      tenantSettings,
      audit,
      welcome,
    ]),
    account,
    newTenant,
  ]),
  open.addChildren([signIn, setup, invite]),
]);

export function createDashboardRouter(queryClient: QueryClient) {
  return createRouter({
    routeTree,
    context: { queryClient },
    defaultPreload: 'intent',
    defaultPreloadStaleTime: 0,
    defaultErrorComponent: Crash,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: false,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createDashboardRouter>;
  }
}
