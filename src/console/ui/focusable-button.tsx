import type { ComponentProps } from 'react';

interface Props extends ComponentProps<'button'> {
  type: 'button' | 'submit';
  isDisabled: boolean;
}

/**
 * A button that keeps the focus while it is disabled, for example during its own request. With the attribute
 * `disabled`, it would lose the focus. A disabled submit button also ignores Enter in the fields of its form.
 */
export function FocusableButton({ isDisabled, onClick, ...button }: Props) {
  return (
    <button
      {...button}
      className="button"
      aria-disabled={isDisabled}
      onClick={(event) => {
        if (isDisabled) event.preventDefault();
        else onClick?.(event);
      }}
    />
  );
}
