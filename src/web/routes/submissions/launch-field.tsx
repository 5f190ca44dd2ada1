import { useId, useState } from 'react';
import { SUBMISSION_LIMITS } from '../../../contract/submissions/limits.ts';
import { rich, t } from '../../language/translate.ts';
import { FieldMessage } from './fields.tsx';
import { formatTime, formatTimeZone, fromLocalInput, toLocalInput, tomorrowMorning, visitorTimeZone } from './times.ts';

interface LaunchFieldProps {
  /** An ISO 8601 time, or empty for a launch immediately after approval, or 'incomplete' if no time is entered. */
  launchAt: string;
  /** Whether the submission is approved, so the product launches immediately if no time is set. */
  isApproved: boolean;
  siteTimeZone: string;
  error: string | undefined;
  onChange: (launchAt: string) => void;
}

/** The value of `launchAt` while the maker has chosen to set a time but has not entered one, which is an error. */
const INCOMPLETE = 'incomplete';

const isTime = (text: string) => !Number.isNaN(Date.parse(text));

const DAY_MS = 24 * 60 * 60_000;

/** The field for the launch time, in the visitor's time zone. */
export function LaunchField({ launchAt, isApproved, siteTimeZone, error, onChange }: LaunchFieldProps) {
  const id = useId();
  const [now] = useState(() => new Date());
  const isChosen = launchAt !== '';
  const [text, setText] = useState(isTime(launchAt) ? toLocalInput(new Date(launchAt)) : '');

  function set(value: string): void {
    setText(value);
    onChange(fromLocalInput(value) || INCOMPLETE);
  }

  function choose(chosen: boolean): void {
    if (!chosen) onChange('');
    else set(text || toLocalInput(tomorrowMorning(now)));
  }

  const zone = visitorTimeZone();
  return (
    <fieldset className="submission-field submission-launch">
      <legend>{t('Launch')}</legend>
      <label>
        <input type="radio" name={`${id}-when`} checked={!isChosen} onChange={() => choose(false)} />
        {isApproved ? t('Now') : t('As soon as it is approved')}
      </label>
      <label>
        <input type="radio" name={`${id}-when`} checked={isChosen} onChange={() => choose(true)} />
        {t('At a time that I choose')}
      </label>
      {isChosen && (
        <div className="submission-launch-time">
          <input
            type="datetime-local"
            aria-label={t('Launch time')}
            required
            value={text}
            max={toLocalInput(new Date(now.getTime() + SUBMISSION_LIMITS.launchAheadDays * DAY_MS))}
            aria-invalid={error !== undefined}
            aria-describedby={error ? `${id}-zone ${id}-error` : `${id}-zone`}
            onChange={(event) => set(event.currentTarget.value)}
          />
          <p id={`${id}-zone`} className="submission-hint">
            {`${t('Your time zone: {zone}.', { zone: formatTimeZone(zone, isTime(launchAt) ? new Date(launchAt) : now) })} `}
            {isTime(launchAt) &&
              rich('In the site’s time zone, {zone}, that is {time}.', {
                zone: formatTimeZone(siteTimeZone, new Date(launchAt)),
                time: <strong>{formatTime(launchAt, siteTimeZone)}</strong>,
              })}
          </p>
        </div>
      )}
      {error && <FieldMessage id={`${id}-error`}>{error}</FieldMessage>}
      <p className="submission-hint">{t('Every launch collects votes for 24 hours, whenever it begins.')}</p>
    </fieldset>
  );
}
