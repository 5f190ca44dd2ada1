import type { Product, TeamMember } from '../../contract/products/schema.ts';

/** A row of products with its counts, as the driver gives it. */
export interface ProductRow {
  id: string;
  name: string;
  description: string;
  image: string;
  tags: string[];
  category: string;
  maker: string;
  launch_date: string;
  team: TeamMember[];
  screenshots: string[];
  created_at: Date;
  upvotes: number;
  comments: number;
}

/** The columns of `ProductRow`, from products `p` and product_counts `c`; a product without a row of counts counts 0. */
export const PRODUCT_COLUMNS = `p.id, p.name, p.description, p.image, p.tags, p.category, p.maker, p.launch_date, p.team,
  p.screenshots, p.created_at, coalesce(c.upvotes, 0) AS upvotes, coalesce(c.comments, 0) AS comments`;

export function productOf(row: ProductRow): Product {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    image: row.image,
    tags: row.tags,
    category: row.category,
    maker: row.maker,
    launchDate: row.launch_date,
    team: row.team,
    screenshots: row.screenshots,
    createdAt: row.created_at.toISOString(),
    upvotes: row.upvotes,
    comments: row.comments,
  };
}
