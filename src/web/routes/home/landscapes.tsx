import { Avatar } from '../../ui/avatar.tsx';
import { DemoButton } from '../../ui/demo-button.tsx';

interface Article {
  title: string;
  excerpt: string;
  author: string;
  subtitle: string;
}

/** The specification fixes these three; the API does not serve them. */
const ARTICLES: readonly Article[] = [
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
  return (
    <aside className="landscapes" aria-labelledby="landscapes-title">
      <h2 id="landscapes-title">Product Landscapes</h2>
      <div className="landscapes-articles">
        {ARTICLES.map((article) => (
          <ArticleCard key={article.title} article={article} />
        ))}
      </div>
      <DemoButton label="View more articles" tone="outline" />
    </aside>
  );
}

function ArticleCard({ article }: { article: Article }) {
  return (
    <article className="article-card">
      <h3>{article.title}</h3>
      <p className="article-card-excerpt">{article.excerpt}</p>
      <div className="article-card-author">
        <Avatar name={article.author} size="small" />
        <div>
          <p className="article-card-name">{article.author}</p>
          <p className="article-card-subtitle">{article.subtitle}</p>
        </div>
      </div>
    </article>
  );
}
