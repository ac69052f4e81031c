import { useLocation, useNavigate, useRouter, useSearch } from '@tanstack/react-router';

/** Opens another item, or none. @param replace The way back does not lead to what is open now. */
export type Open = (id: string | undefined, replace?: boolean) => void;

/** For `id` on pages with generated ids: an item that is not there yet. */
export const newItem = 'new';

/** The item of a list that is open, by the `id` of the address, and how another is opened, or none. */
export function useOpened(): readonly [id: string | undefined, open: Open] {
  const { id } = useSearch({ strict: false });
  const pathname = useLocation({ select: (location) => location.pathname });
  const navigate = useNavigate();
  const router = useRouter();
  const open: Open = (opened, replace = opened === undefined) => {
    // Called after an answer, it must not act on what the person opened in the meantime.
    const { pathname: path, search } = router.latestLocation;
    if (path !== pathname || textOf(search) !== textOf({ id })) return;
    void navigate({
      to: '.',
      search: ({ id: _, ...others }) => (opened === undefined ? others : { ...others, id: opened }),
      replace,
    });
  };
  return [id, open];
}

/** The router reads digits as a number. */
const textOf = ({ id }: { readonly id?: unknown }): string => String(id ?? '');
