import { Component, type ReactNode } from 'react';
import { t } from '../language/translate.ts';

interface Props {
  children: ReactNode;
  /** After a failure, another value shows the children again. */
  location: unknown;
}

interface State {
  failed: boolean;
}

/** Shows a fallback if a page's code throws an error or cannot be loaded. */
export class ErrorBoundary extends Component<Props, State> {
  override state = { failed: false };

  override componentDidUpdate(before: Props, { failed }: State) {
    // `failed` is the previous state, because the location may change in the same update in which the children fail.
    if (failed && before.location !== this.props.location) this.setState({ failed: false });
  }

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="notice">
        <h1>{t('Something went wrong')}</h1>
        <p>{t('This page could not be shown.')}</p>
        <button type="button" className="button" data-tone="primary" onClick={() => window.location.reload()}>
          {t('Try again')}
        </button>
      </div>
    );
  }
}
