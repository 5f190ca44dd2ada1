import href from './submissions.css?url';

/**
 * The styles of submissions, which only pages with submissions load. React waits for them before it shows a component
 * that needs them.
 */
export function SubmissionStyles() {
  return <link rel="stylesheet" href={href} precedence="submissions" />;
}
