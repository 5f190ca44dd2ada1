export interface Article {
  title: string;
  excerpt: string;
  author: string;
  subtitle: string;
}

/** Fixed by the specification to three, and no part of what the API serves. */
export const ARTICLES: readonly Article[] = [
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
