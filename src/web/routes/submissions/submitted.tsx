import { useEffect, useRef } from 'react';
import { LIMITS } from '../../../contract/limits.ts';
import { paths } from '../../../contract/paths.ts';
import { submissionPaths } from '../../../contract/submissions/paths.ts';
import type { Submission } from '../../../contract/submissions/schema.ts';
import { CopyField } from '../../features/sharing/copy-field.tsx';
import { useSite } from '../../routing/document-head.ts';
import { Link } from '../../ui/link.tsx';
import { calendarFile } from './calendar.ts';
import { Download } from './download.tsx';
import { QrCode } from './qr-code.tsx';
import type { MakerAccess } from './submissions-client.ts';
import { timeInWords, timeZoneInWords, visitorTimeZone } from './times.ts';

interface SubmittedProps {
  access: MakerAccess;
  submission: Submission;
}

/** Shows the maker link, this one time, and the next steps. */
export function Submitted({ access, submission }: SubmittedProps) {
  const site = useSite();
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => title.current?.focus(), []);
  const { id, launchAt, product } = submission;
  const link = `${site.url}${submissionPaths.makerLink(id, access.key)}`;
  const when =
    launchAt &&
    `${timeInWords(launchAt, visitorTimeZone())}, ${timeZoneInWords(visitorTimeZone(), new Date(launchAt))}`;

  return (
    <div className="submitted">
      <div className="submitted-crest" aria-hidden="true" />
      <h3 ref={title} tabIndex={-1} className="submitted-title">
        <bdi>{product.name}</bdi> is on its way
      </h3>
      <p className="submitted-lead">
        This is your <strong>maker link</strong>. It stands in for an account: anyone who has it can change this launch,
        so keep it to yourself. It is shown only once.
      </p>
      <div className="submitted-link">
        <QrCode text={link} label={`QR code of the maker link of ${product.name}`} />
        <div className="submitted-save">
          <CopyField label="Your maker link" action="Copy" done="Maker link copied" text={link} />
          <div className="submitted-actions">
            <Download
              label="Save as a file"
              name={`${id}-maker-link.txt`}
              type="text/plain"
              content={() =>
                `Maker link of ${product.name} on ${site.name}\n\n${link}\n\nKeep this link to yourself.\n`
              }
            />
            {launchAt && (
              <Download
                label="Add to calendar"
                name={`${id}-launch.ics`}
                type="text/calendar"
                content={() =>
                  calendarFile({
                    uid: `launch-${id}@${new URL(site.url).host}`,
                    title: `Launch of ${product.name}`,
                    // Without the key, because calendars are shared.
                    description: `${product.name} launches on ${site.name} and collects votes for ${LIMITS.launchWindowHours} hours.`,
                    url: `${site.url}${paths.product(id)}`,
                    startsAt: new Date(launchAt),
                    hours: LIMITS.launchWindowHours,
                    now: new Date(),
                  })
                }
              />
            )}
          </div>
          <p className="submission-hint">This browser remembers the link too. The code takes it to your phone.</p>
        </div>
      </div>
      <section className="submitted-next" aria-labelledby="submitted-next">
        <h4 id="submitted-next">What happens next</h4>
        <ol>
          <li>A person looks at it. Until then you can still change everything.</li>
          <li>{when ? `Once approved, it launches on ${when}.` : 'Once approved, it launches at once.'}</li>
          <li>It collects votes for {LIMITS.launchWindowHours} hours. Your maker link shows them as they come in.</li>
        </ol>
      </section>
      <Link className="button submission-submit" data-tone="primary" to={paths.product(id)}>
        See your launch
      </Link>
    </div>
  );
}
