import { Component, type ReactNode } from 'react';
import { t } from '../language/translate.ts';

/** Shows a fallback if a page's code throws an error or cannot be loaded. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

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
