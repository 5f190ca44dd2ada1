import { useQueryClient } from '@tanstack/react-query';
import { paths } from '../../../contract/paths.ts';
import { useApi } from '../../api/api-context.tsx';
import { rich, t } from '../../language/translate.ts';
import { type OutboxItem, removeFromOutbox, setRefusal, writeKey } from '../../storage/outbox.ts';
import { Link } from '../../ui/link.tsx';
import { sendOutbox } from './send-outbox.ts';

/** A queued comment that the server refused. Its text is not discarded without asking. */
export function RefusedComment({ item }: { item: OutboxItem }) {
  const api = useApi();
  const client = useQueryClient();
  if (item.kind !== 'comment') return null;
  const key = writeKey(item);

  function sendAgain(): void {
    setRefusal(key, undefined);
    void sendOutbox(api, client);
  }

  return (
    <section className="offline-note-card" aria-label={t('Comment that was not posted')}>
      <p>
        {rich('Your comment on {product} was not posted: {reason}', {
          product: <Link to={paths.product(item.productId)}>{item.productId}</Link>,
          reason: item.refused,
        })}
      </p>
      <blockquote className="offline-note-text" dir="auto">
        {item.content}
      </blockquote>
      <div className="offline-note-actions">
        <button type="button" className="button" data-tone="outline" onClick={sendAgain}>
          {t('Try again')}
        </button>
        <button type="button" className="button" data-tone="quiet" onClick={() => removeFromOutbox(key)}>
          {t('Discard')}
        </button>
      </div>
    </section>
  );
}
