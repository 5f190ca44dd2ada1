import type { ComponentProps } from 'react';

interface Props extends ComponentProps<'button'> {
  type: 'button' | 'submit';
  isDisabled: boolean;
}

/**
 * A button that keeps the focus while it is disabled, for example during its own request. The attribute `disabled`
 * would remove the focus and, on a submit button, also make Enter in the form's fields ineffective.
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
