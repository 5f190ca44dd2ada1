import { Avatar } from '../../ui/avatar.tsx';
import { DemoButton } from '../../ui/demo-button.tsx';
import { ARTICLES, type Article } from './articles.ts';

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
