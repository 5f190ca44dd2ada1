import type { Article } from '../../../contract/site.ts';
import type { PlainMessage } from '../../language/catalogue.ts';
import { t, translated } from '../../language/translate.ts';
import { useSite } from '../../routing/document-head.ts';
import { Avatar } from '../../ui/avatar.tsx';
import { DemoButton } from '../../ui/demo-button.tsx';

interface OwnArticle extends Article {
  title: PlainMessage;
  excerpt: PlainMessage;
  subtitle: PlainMessage;
}

/** The three fixed articles that the specification requires. The setting SITE_ARTICLES replaces them. */
const ARTICLES: readonly OwnArticle[] = [
  {
    title: 'Launch day is the start of the swell, not its crest',
    excerpt:
      'The products people still talk about a year on treated their first day as a listening exercise. How to leave room for the second wave.',
    author: 'Marit Solheim',
    subtitle: 'On launching · 6 min read',
  },
  {
    title: 'Ten quiet tools that hold the web up',
    excerpt:
      'Formatters, parsers, compressors: software that never trends and never fails. A short tour of the current beneath the surface.',
    author: 'Teo Okafor',
    subtitle: 'Field guide · 9 min read',
  },
  {
    title: 'Feedback you can build on',
    excerpt:
      '“Nice!” is kind and “meh” is quick, and neither helps a maker on Monday. Three questions that turn an opinion into a next step.',
    author: 'Ines Carvalho',
    subtitle: 'Community craft · 4 min read',
  },
];

export function Landscapes() {
  const { articles } = useSite();
  return (
    <aside className="landscapes" aria-labelledby="landscapes-title">
      <h2 id="landscapes-title">{t('Product Landscapes')}</h2>
      <div className="landscapes-articles">
        {(articles ?? ARTICLES).map((article, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the articles never change, and titles may be identical
          <ArticleCard key={index} article={article} dir={articles && 'auto'} />
        ))}
      </div>
      <DemoButton label="View more articles" tone="outline" />
    </aside>
  );
}

/** `dir` is set for the operator's own texts, whose direction is unknown. */
function ArticleCard({ article, dir }: { article: Article; dir: 'auto' | undefined }) {
  return (
    <article className="article-card">
      <h3 dir={dir}>{translated(article.title)}</h3>
      <p className="article-card-excerpt" dir={dir}>
        {translated(article.excerpt)}
      </p>
      <div className="article-card-author">
        <Avatar name={article.author} size="small" />
        <div>
          <p className="article-card-name" dir={dir}>
            {article.author}
          </p>
          <p className="article-card-subtitle" dir={dir}>
            {translated(article.subtitle)}
          </p>
        </div>
      </div>
    </article>
  );
}
