import panelsIcon from 'virtual:icon/device-tv';
import historyIcon from 'virtual:icon/history';
import overviewIcon from 'virtual:icon/layout-dashboard';
import rulesIcon from 'virtual:icon/route';
import type { Role } from '#contract/token.ts';

type PlaceAddress =
  | `/t/$tenant/${'overview' | 'history' | 'panels' | 'rules'}`
  | `/t/$tenant/settings/${'tokens' | 'levels' | 'members' | 'tenant' | 'audit'}`;

export interface Place {
  readonly name:
    | 'overview'
    | 'history'
    | 'panels'
    | 'rules'
    | 'tokens'
    | 'levels'
    | 'members'
    | 'tenant'
    | 'audit';
  readonly to: PlaceAddress;
  readonly icon?: readonly string[];
  /** The least role that may open it; everyone, when there is none. */
  readonly role?: Role;
}

/** The pages of a tenant, as the navigation lists them. */
export const places: readonly Place[] = [
  { name: 'overview', to: '/t/$tenant/overview', icon: overviewIcon },
  { name: 'history', to: '/t/$tenant/history', icon: historyIcon },
  { name: 'panels', to: '/t/$tenant/panels', icon: panelsIcon },
  { name: 'rules', to: '/t/$tenant/rules', icon: rulesIcon },
];

export const settingsPlaces: readonly Place[] = [
  { name: 'tokens', to: '/t/$tenant/settings/tokens', role: 'admin' },
  { name: 'levels', to: '/t/$tenant/settings/levels' },
  { name: 'members', to: '/t/$tenant/settings/members' },
  { name: 'tenant', to: '/t/$tenant/settings/tenant' },
  { name: 'audit', to: '/t/$tenant/settings/audit', role: 'admin' },
];
