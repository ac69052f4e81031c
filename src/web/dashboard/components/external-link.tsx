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

/** Ends before the punctuation of the sentence. */
const link = /(https?:\/\/\S*[^\s.,;:!?'")\]}>])/i;

/** A text as it is, in which http and https links can be opened. */
export function TextWithLinks({ text }: { text: string }) {
  return text.split(link).map((part, i) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: a part is known by its place alone
    i % 2 === 1 ? <ExternalLink key={i} url={part} /> : part,
  );
}
