import { useSiteName } from '../../lib/document-head.ts';
import { PageHeading } from '../../ui/page-heading.tsx';
import { Waves } from '../../ui/waves.tsx';

export function WelcomeBanner() {
  return (
    <section className="banner" aria-label="Welcome">
      <Waves />
      <div className="banner-text">
        <PageHeading>Welcome to {useSiteName()}</PageHeading>
        <p>Every big wave starts as a ripple. See what makers are launching, and lift what deserves to rise.</p>
      </div>
    </section>
  );
}
