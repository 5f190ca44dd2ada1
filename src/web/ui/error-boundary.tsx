import { Component, type ReactNode } from 'react';
import { t } from '../language/translate.ts';
import { FailureNotice } from './notice.tsx';

interface Props {
  children: ReactNode;
  /** When this value changes after a failure, the children are shown again. */
  location: unknown;
}

interface State {
  failed: boolean;
}

/** Shows a fallback if a component of the page throws an error while it renders or in an effect. */
export class ErrorBoundary extends Component<Props, State> {
  override state = { failed: false };

  override componentDidUpdate(before: Props, { failed }: State) {
    // Uses the previous state, because the location may change in the same update in which the children fail.
    if (failed && before.location !== this.props.location) this.setState({ failed: false });
  }

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return <FailureNotice title={<h1>{t('Something went wrong')}</h1>} />;
  }
}
