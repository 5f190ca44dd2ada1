/** What a product shows where nothing was given: the defaults of the specification, in the database and for imports alike. */
export const PRODUCT_DEFAULTS = {
  name: 'Untitled Product',
  description: 'No description available',
  image: '/pictures/placeholder.svg',
  category: 'Uncategorized',
  maker: 'Unknown Maker',
  launchDate: 'Today',
} as const;
