import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { productKeys } from '../../cache/cached-data.ts';
import { t } from '../../language/translate.ts';
import { unlistedHead, useDocumentHead, useSite } from '../../routing/document-head.ts';
import { makerKeys, saveMakerKey } from '../../storage/maker-keys.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeading } from '../../ui/page-heading.tsx';
import { ProductSkeleton } from '../product/product-states.tsx';
import { MakerLaunch } from './maker-launch.tsx';
import { MakerSubmission, type OpenDialog } from './maker-submission.tsx';
import { SubmissionStyles } from './submission-form.tsx';
import { failureOf, type MakerAccess, SubmissionError, submissionsClient } from './submissions-client.ts';

interface MakerViewProps {
  access: MakerAccess;
  /** Whether the product is hidden from visitors, for example because it has not launched yet. */
  isMissing: boolean;
  onRefused: (key: string) => void;
}

const REFETCH_MS = 15_000;

/** The maximum delay of a timer (2^31 − 1 ms). */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The maker's view of the launch, kept up to date while it is on screen. */
export function MakerView({ access, isMissing, onRefused }: MakerViewProps) {
  const client = useQueryClient();
  const queryKey = productKeys.submission(access.id, access.key);
  const { data, dataUpdatedAt, error, refetch } = useQuery<Submission>({
    queryKey,
    queryFn: () => submissionsClient.get(access),
    refetchInterval: REFETCH_MS,
    retry: false,
  });
  // A 404 with any other code comes from a proxy, or means that submissions are currently disabled.
  const isUnknown = error instanceof SubmissionError && error.code === 'submission_not_found';
  useEffect(() => {
    if (isUnknown) onRefused(access.key);
  }, [isUnknown, access.key, onRefused]);
  useStoredKey(access, data);
  useRefetchAtLaunch(data, refetch);

  const hasLaunched = data?.status === 'launched';
  const contradictsPage = data !== undefined && hasLaunched === isMissing;
  // biome-ignore lint/correctness/useExhaustiveDependencies: each refetch of the submission also refetches the product
  useEffect(() => {
    // The page below must change as well: the product has launched, or an operator has postponed or removed it.
    if (contradictsPage) void client.invalidateQueries({ queryKey: productKeys.detail(access.id) });
  }, [contradictsPage, client, access.id, dataUpdatedAt]);

  // The state of the dialog is kept here, so it stays open when the product launches. It may contain unsaved text.
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const showsLaunch = hasLaunched && open === null;
  useFocusAfterLaunch(showsLaunch, open !== null);

  /** Shows a changed submission and cancels a pending read, whose response may be older. */
  function onChange(submission: Submission): void {
    void client.cancelQueries({ queryKey });
    client.setQueryData(queryKey, submission);
  }

  if (data === undefined) {
    if (!isMissing) return null;
    return error && !isUnknown ? <Unreachable error={error} onRetry={() => refetch()} /> : <ProductSkeleton />;
  }
  return (
    <>
      <SubmissionStyles />
      {showsLaunch && !isMissing && <MakerLaunch submission={data} />}
      {showsLaunch && isMissing && <ProductSkeleton />}
      {/* A waiting, declined or withdrawn submission has no product. A product on screen is then another one with the
          same id. */}
      {!showsLaunch && (isMissing || open || data.status !== 'scheduled') && (
        <MakerSubmission {...{ access, onChange, open, setOpen }} submission={data} isPage={isMissing} />
      )}
    </>
  );
}

function Unreachable({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const { title, detail } = failureOf(error);
  useDocumentHead(unlistedHead('Failed to load products', useSite()));
  return (
    <Notice tone="failure">
      <PageHeading className="notice-title">{title}</PageHeading>
      <p>{detail}</p>
      <div className="notice-actions">
        <button type="button" className="button" data-tone="primary" onClick={onRetry}>
          {t('Try again')}
        </button>
      </div>
    </Notice>
  );
}

/** Stores the key and the product's name once the server has accepted the key. Replaces an earlier key. */
function useStoredKey({ id, key }: MakerAccess, submission: Submission | undefined): void {
  const name = submission?.product.name;
  useEffect(() => {
    if (name === undefined) return;
    const stored = makerKeys.read().find(({ productId }) => productId === id);
    if (stored?.key !== key || stored.name !== name) saveMakerKey({ productId: id, name, key });
  }, [id, key, name]);
}

/** Focuses the page after the launch, because the button that opened the dialog is gone. */
function useFocusAfterLaunch(showsLaunch: boolean, isOpen: boolean): void {
  const hasOpened = useRef(false);
  useEffect(() => {
    if (isOpen) hasOpened.current = true;
    if (!showsLaunch || !hasOpened.current || document.activeElement !== document.body) return;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [showsLaunch, isOpen]);
}

function useRefetchAtLaunch(submission: Submission | undefined, refetch: () => unknown): void {
  const launchAt = submission?.status === 'scheduled' ? submission.launchAt : null;
  useEffect(() => {
    if (launchAt === null) return;
    const timer = setTimeout(refetch, Math.min(MAX_TIMER_MS, Math.max(0, Date.parse(launchAt) - Date.now()) + 500));
    return () => clearTimeout(timer);
  }, [launchAt, refetch]);
}
