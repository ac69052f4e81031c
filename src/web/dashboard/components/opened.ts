import { useNavigate, useSearch } from '@tanstack/react-router';

/** The item of a list that is open, by the `id` of the address, and how another is opened, or none. */
export function useOpened(): readonly [id: string | undefined, open: (id: string | undefined) => void] {
  const { id } = useSearch({ strict: false });
  const navigate = useNavigate();
  const open = (opened: string | undefined) =>
    void navigate({
      to: '.',
      search: ({ id: _, ...others }) => (opened === undefined ? others : { ...others, id: opened }),
      replace: opened === undefined,
    });
  return [id, open];
}
