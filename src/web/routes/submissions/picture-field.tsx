import { type DragEvent, type MouseEvent, useEffect, useId, useReducer, useRef, useState } from 'react';
import { t } from '../../language/translate.ts';
import { ChevronLeftIcon, ChevronRightIcon, CloseIcon } from '../../ui/icons.tsx';
import { FieldMessage } from './fields.tsx';
import { ACCEPTED, MAX_MEGABYTES, type PictureItem, type Pictures } from './pictures.ts';

interface PictureFieldProps {
  pictures: Pictures;
  isSending: boolean;
  /** The errors of the image and of the screenshots. */
  errors: { image: string | undefined; screenshots: string | undefined };
  onAdd: (files: readonly File[], use: keyof Pictures) => void;
  onChange: (pictures: Pictures) => void;
}

/** The product's image and screenshots, added by file picker, drop or paste. The form handles pasted files. */
export function PictureField({ pictures, isSending, errors, onAdd, onChange }: PictureFieldProps) {
  const { image, screenshots } = pictures;
  const [announcement, announce] = useReducer(announcementAfter, '');
  const announced = useRef(new Set<string>());
  const id = useId();
  const errorId = ({ key }: PictureItem) => `${id}-${[image, ...screenshots].findIndex((item) => item?.key === key)}`;
  const errorIds = (items: readonly PictureItem[]) => items.filter(({ error }) => error).map(errorId);

  // Announces added and rejected files, because the focus may be elsewhere when they have been read.
  useEffect(() => {
    const news = [...(image ? [image] : []), ...screenshots].flatMap(({ key, file, error }) => {
      const change = `${key} ${error}`;
      if (!file || announced.current.has(change)) return [];
      announced.current.add(change);
      return error ?? t('Added {tags}', { tags: file.name });
    });
    if (news.length > 0) announce(news.join(' '));
  }, [image, screenshots]);

  function remove(name: string, change: Partial<Pictures>): void {
    onChange({ ...pictures, ...change });
    announce(t('Removed {tag}', { tag: name }));
  }

  function move(index: number, by: number): void {
    const moved = screenshots[index];
    if (moved === undefined) return;
    const order = screenshots.filter((item) => item !== moved);
    order.splice(index + by, 0, moved);
    onChange({ ...pictures, screenshots: order });
    announce(t('Screenshot moved to position {place} of {total}', { place: index + by + 1, total: order.length }));
  }

  return (
    <>
      <DropZone
        title={t('Picture')}
        words={t('Square, and easy to recognize when it is small.')}
        label={image ? t('Choose another') : t('Choose a picture')}
        error={errors.image}
        itemErrorIds={errorIds(image ? [image] : [])}
        isSending={isSending}
        onFiles={(files) => onAdd(files, 'image')}
      >
        {image && (
          <ul className="submission-pictures" aria-label={t('Picture')}>
            <PictureRow
              item={image}
              errorId={errorId(image)}
              name={t('picture')}
              isSending={isSending}
              onRemove={image.file && ((name) => remove(name, { image: null }))}
            />
          </ul>
        )}
      </DropZone>
      <DropZone
        title={t('Screenshots')}
        words={t('Shown below the description, in this order.')}
        label={t('Add screenshots')}
        error={errors.screenshots}
        itemErrorIds={errorIds(screenshots)}
        isSending={isSending}
        multiple
        onFiles={(files) => onAdd(files, 'screenshots')}
      >
        {screenshots.length > 0 && (
          <ol className="submission-pictures" data-shape="wide" aria-label={t('Screenshots')}>
            {screenshots.map((item, index) => (
              <PictureRow
                key={item.key}
                item={item}
                errorId={errorId(item)}
                name={t('screenshot {number}', { number: index + 1 })}
                isSending={isSending}
                // Pictures that are already on the server keep their order.
                canMove={item.file !== undefined && screenshots.length > 1}
                onEarlier={canSwap(screenshots, index - 1, index) ? () => move(index, -1) : undefined}
                onLater={canSwap(screenshots, index, index + 1) ? () => move(index, 1) : undefined}
                onRemove={(name) => remove(name, { screenshots: screenshots.filter((each) => each !== item) })}
              />
            ))}
          </ol>
        )}
      </DropZone>
      <p className="visually-hidden" role="status">
        {announcement}
      </p>
    </>
  );
}

/** Returns a text that differs from the last announcement, because screen readers announce only changes. */
function announcementAfter(last: string, text: string): string {
  return last === text ? `${text}\u00a0` : text;
}

function canSwap(items: readonly PictureItem[], first: number, second: number): boolean {
  return Boolean(items[first]?.file && items[second]?.file);
}

interface DropZoneProps {
  title: string;
  words: string;
  label: string;
  error: string | undefined;
  /** The ids of the error messages of individual pictures. */
  itemErrorIds: readonly string[];
  isSending: boolean;
  multiple?: boolean;
  onFiles: (files: readonly File[]) => void;
  children: React.ReactNode;
}

function DropZone(props: DropZoneProps) {
  const { title, words, label, error, itemErrorIds, isSending, multiple = false, onFiles, children } = props;
  const id = useId();
  const [isOver, setOver] = useState(false);

  function onDrop(event: DragEvent): void {
    event.preventDefault();
    event.stopPropagation();
    setOver(false);
    if (!isSending) onFiles([...event.dataTransfer.files]);
  }

  return (
    <fieldset
      className="submission-field submission-drop"
      data-over={isOver}
      data-invalid={error !== undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <legend>
        {title}
        <span className="submission-optional">{` ${t('(optional)')}`}</span>
      </legend>
      {children}
      <div className="submission-drop-zone">
        <label className="button submission-picker" data-tone="outline">
          {label}
          <input
            type="file"
            className="visually-hidden"
            accept={ACCEPTED}
            multiple={multiple}
            disabled={isSending}
            aria-describedby={[`${id}-words`, ...itemErrorIds, ...(error ? [`${id}-error`] : [])].join(' ')}
            onChange={({ currentTarget }) => {
              onFiles([...(currentTarget.files ?? [])]);
              // Resets the input. Otherwise, choosing the same file again would fire no event.
              currentTarget.value = '';
            }}
          />
        </label>
        <p id={`${id}-words`} className="submission-hint">
          {t('Or drop or paste a file here. {words} Up to {size} MB.', { words, size: MAX_MEGABYTES })}
        </p>
      </div>
      {error && <FieldMessage id={`${id}-error`}>{error}</FieldMessage>}
    </fieldset>
  );
}

interface PictureRowProps {
  item: PictureItem;
  errorId: string;
  /** The picture's label, e.g. 'screenshot 2'. */
  name: string;
  isSending: boolean;
  /** Whether the picture can be moved. At an end of the list, it can be moved in only one direction. */
  canMove?: boolean;
  onEarlier?: (() => void) | undefined;
  onLater?: (() => void) | undefined;
  onRemove?: ((name: string) => void) | undefined;
}

function PictureRow(props: PictureRowProps) {
  const { item, errorId, name, isSending, canMove = false, onEarlier, onLater, onRemove } = props;
  const isDone = item.file === undefined;

  function remove({ currentTarget }: MouseEvent): void {
    // The button disappears, so the focus moves to the field.
    currentTarget.closest('fieldset')?.querySelector('input')?.focus();
    onRemove?.(name);
  }

  return (
    <li className="submission-picture" data-error={item.error !== undefined}>
      {item.src === '' ? (
        <span className="submission-picture-image" />
      ) : (
        <img className="submission-picture-image" src={item.src} alt={t('Your {name}', { name })} />
      )}
      <div>
        <p className="submission-picture-name" dir="auto">
          {item.file?.name ?? (isDone ? t('On the site') : name)}
        </p>
        {item.sent !== undefined && (
          <progress value={item.sent} aria-label={t('Sending {name}', { name })}>
            {Math.round(item.sent * 100)} %
          </progress>
        )}
      </div>
      {!isSending && (
        <div className="submission-picture-actions">
          {canMove && (
            <RowButton label={t('Move {name} earlier', { name })} icon={<ChevronLeftIcon />} onPress={onEarlier} />
          )}
          {canMove && (
            <RowButton label={t('Move {name} later', { name })} icon={<ChevronRightIcon />} onPress={onLater} />
          )}
          {onRemove && <RowButton label={t('Remove {name}', { name })} icon={<CloseIcon />} onPress={remove} />}
        </div>
      )}
      {item.error && <FieldMessage id={errorId}>{item.error}</FieldMessage>}
    </li>
  );
}

interface RowButtonProps {
  label: string;
  icon: React.ReactNode;
  /** If unset, the button has no effect, but it is not disabled, so it keeps the focus. */
  onPress: ((event: MouseEvent) => void) | undefined;
}

function RowButton({ label, icon, onPress }: RowButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      aria-disabled={onPress === undefined}
      onClick={onPress}
    >
      {icon}
    </button>
  );
}
