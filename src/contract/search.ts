import { type Static, Type } from 'typebox';

/** A search kept under a name for the whole tenant. */
export const SavedSearch = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    q: Type.String(),
    createdAt: Type.String({ format: 'date-time' }),
    createdBy: Type.String(),
  },
  { title: 'SavedSearch', additionalProperties: false },
);
export type SavedSearch = Static<typeof SavedSearch>;

export const SavedSearchPut = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    q: Type.String({ maxLength: 2000 }),
  },
  { title: 'SavedSearchPut', additionalProperties: false },
);
export type SavedSearchPut = Static<typeof SavedSearchPut>;
export const SavedSearchList = Type.Object(
  { searches: Type.Array(SavedSearch) },
  { title: 'SavedSearchList', additionalProperties: false },
);
