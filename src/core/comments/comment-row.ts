import type { Comment } from '../../contract/comments/schema.ts';

/** A row of the table `comments`, as the driver returns it. */
export interface CommentRow {
  id: string;
  product_id: string;
  author_name: string;
  author_avatar: string;
  author_badge: string | null;
  content: string;
  likes: number;
  created_at: Date;
}

export const COMMENT_COLUMNS = 'id, product_id, author_name, author_avatar, author_badge, content, likes, created_at';

/** The SQL condition on comments that every visitor may read. Only these comments are counted. */
export const PUBLIC = 'held_session IS NULL AND hidden_at IS NULL';

/** The SQL condition on all other comments. */
export const NOT_PUBLIC = '(held_session IS NOT NULL OR hidden_at IS NOT NULL)';

/** The SQL condition on comments that wait for an operator's decision. */
export const WAITING = 'held_session IS NOT NULL AND hidden_at IS NULL';

export function commentOf(row: CommentRow): Comment {
  return {
    id: row.id,
    productId: row.product_id,
    authorName: row.author_name,
    authorAvatar: row.author_avatar,
    authorBadge: row.author_badge,
    content: row.content,
    likes: row.likes,
    createdAt: row.created_at.toISOString(),
  };
}
