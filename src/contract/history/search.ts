import { type Static, Type } from 'typebox';
import { component, Instant, Name } from '../schema.ts';

/** A search kept under a name for the whole tenant. */
export const SavedSearch = component('SavedSearch', {
  id: Type.String(),
  name: Type.String(),
  q: Type.String(),
  createdAt: Instant,
  createdBy: Type.String(),
});
export type SavedSearch = Static<typeof SavedSearch>;

export const SavedSearchPut = component('SavedSearchPut', {
  name: Name,
  q: Type.String({ maxLength: 2000 }),
});
export type SavedSearchPut = Static<typeof SavedSearchPut>;
export const SavedSearchList = component('SavedSearchList', { searches: Type.Array(SavedSearch) });
