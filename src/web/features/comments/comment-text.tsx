import { linksInText } from '../../lib/links-in-text.ts';

/** What a visitor wrote: plain text with its line breaks. Links in it get no credit from us. */
export function CommentText({ text }: { text: string }) {
  return (
    <p className="comment-text">
      {linksInText(text).map((part, index) =>
        part.kind === 'link' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text's parts have no other name and never move
          <a key={index} href={part.href} rel="nofollow ugc noopener" target="_blank">
            {part.text}
          </a>
        ) : (
          part.text
        ),
      )}
    </p>
  );
}
