import { useEffect, useRef, useState } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import * as paths from '../../../contract/paths.ts';
import { submissionPaths } from '../../../contract/submissions/paths.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { CopyField } from '../../features/sharing/copy-field.tsx';
import { rich, t } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { makerKeys } from '../../storage/maker-keys.ts';
import { Link } from '../../ui/link.tsx';
import { calendarFile } from './calendar.ts';
import type { MakerAccess } from './submissions-client.ts';
import { formatTime, formatTimeZone, visitorTimeZone } from './times.ts';

interface SubmittedProps {
  access: MakerAccess;
  submission: Submission;
}

/**
 * Shows the maker link, which no other page shows, and the next steps or the reason why the submission was declined.
 */
export function Submitted({ access, submission }: SubmittedProps) {
  const site = useSite();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const { id, product, reason } = submission;
  // An operator may decline a submission while its pictures are being uploaded.
  const isDeclined = submission.status === 'declined';
  const launchAt = isDeclined ? null : submission.launchAt;
  const link = `${site.url}${submissionPaths.makerLink(id, access.key)}`;
  const when =
    launchAt &&
    `${formatTime(launchAt, visitorTimeZone())}${t(', ')}${formatTimeZone(visitorTimeZone(), new Date(launchAt))}`;

  return (
    <div className="submitted">
      <div className="submitted-crest" aria-hidden="true" />
      <h3 ref={title} tabIndex={-1} className="submitted-title">
        {isDeclined ? t('Declined') : rich('{name} is on its way', { name: <bdi>{product.name}</bdi> })}
      </h3>
      {isDeclined && (
        <>
          <p className="submitted-lead">{t('You can change it and send it again.')}</p>
          {reason && <blockquote dir="auto">{reason}</blockquote>}
        </>
      )}
      <p className="submitted-lead">
        {rich(
          'This is your {link}. It stands in for an account: anyone who has it can change this launch, so keep it to yourself. It is shown only once.',
          { link: <strong>{t('maker link')}</strong> },
        )}
      </p>
      <div className="submitted-link">
        <QrCode text={link} label={t('QR code of the maker link of {name}', { name: product.name })} />
        <div className="submitted-save">
          <CopyField label={t('Your maker link')} action={t('Copy')} done={t('Maker link copied')} text={link} />
          <div className="submitted-actions">
            <Download
              label={t('Save as a file')}
              name={`${id}-maker-link.txt`}
              type="text/plain"
              content={() =>
                `${t('Maker link of {name} on {site}', { name: product.name, site: site.name })}\n\n${link}\n\n${t('Keep this link to yourself.')}\n`
              }
            />
            {launchAt && (
              <Download
                label={t('Add to calendar')}
                name={`${id}-launch.ics`}
                type="text/calendar"
                content={() =>
                  calendarFile({
                    uid: `launch-${id}@${new URL(site.url).host}`,
                    title: t('Launch of {name}', { name: product.name }),
                    // The description does not contain the key, because calendars are often shared.
                    description: t('{name} launches on {site} and collects votes for {hours} hours.', {
                      name: product.name,
                      site: site.name,
                      hours: LIMITS.launchWindowHours,
                    }),
                    url: `${site.url}${paths.product(id)}`,
                    startsAt: new Date(launchAt),
                    hours: LIMITS.launchWindowHours,
                    now: new Date(),
                  })
                }
              />
            )}
          </div>
          <p className="submission-hint">
            {makerKeys.isPersisted() && `${t('This browser remembers the link too.')} `}
            {t('Scan the QR code to open it on your phone.')}
          </p>
        </div>
      </div>
      {submission.status === 'waiting' && (
        <section className="submitted-next" aria-labelledby="submitted-next">
          <h4 id="submitted-next">{t('What happens next')}</h4>
          <ol>
            <li>{t('A person reviews it. Until then, you can still change everything.')}</li>
            <li>
              {when
                ? t('Once approved, it launches on {time}.', { time: when })
                : t('Once approved, it launches at once.')}
            </li>
            <li>
              {t('It collects votes for {hours} hours. Your maker link shows them as they come in.', {
                hours: LIMITS.launchWindowHours,
              })}
            </li>
          </ol>
        </section>
      )}
      <Link className="button submission-submit" data-tone="primary" to={paths.product(id)}>
        {t('See your launch')}
      </Link>
    </div>
  );
}

interface DownloadProps {
  label: string;
  /** The file name. */
  name: string;
  type: string;
  content: () => string;
}

/** Offers text as a download. */
function Download({ label, name, type, content }: DownloadProps) {
  function save(): void {
    const address = URL.createObjectURL(new Blob([content()], { type: `${type};charset=utf-8` }));
    const link = Object.assign(document.createElement('a'), { href: address, download: name });
    link.click();
    // By then, the browser has started to read the file.
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  }

  return (
    <button type="button" className="button" data-tone="outline" onClick={save}>
      {label}
    </button>
  );
}

interface QrCodeProps {
  text: string;
  label: string;
}

/** The width of the light border around the code, in modules, as ISO/IEC 18004 requires. */
const QUIET_ZONE = 4;

/** A text as a QR code, always dark on light, because many readers require that. */
function QrCode({ text, label }: QrCodeProps) {
  const [code, setCode] = useState<{ size: number; path: string } | null>(null);

  useEffect(() => {
    let isCurrent = true;
    import('uqr').then(
      ({ encode }) => {
        const { data, size } = encode(text, { ecc: 'M', border: QUIET_ZONE });
        if (isCurrent) setCode({ size, path: pathOf(data) });
      },
      // If the QR code module fails to load, visitors can still copy the link.
      () => {},
    );
    return () => {
      isCurrent = false;
    };
  }, [text]);

  return (
    <div className="qr-code">
      {code && (
        <svg viewBox={`0 0 ${code.size} ${code.size}`} role="img" aria-label={label} shapeRendering="crispEdges">
          <path d={code.path} />
        </svg>
      )}
    </div>
  );
}

/** Returns the SVG path of the code, with one square for each dark module. */
function pathOf(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
}
