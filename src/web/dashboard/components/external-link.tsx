import linkIcon from 'virtual:icon/external-link';
import { Icon } from './icon.tsx';

/** Only http and https become links. */
export function ExternalLink({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <bdi>{url}</bdi>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer nofollow">
      <bdi>{url}</bdi>
      <Icon paths={linkIcon} size={13} />
    </a>
  );
}
