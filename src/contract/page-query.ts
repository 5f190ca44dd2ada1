import { type Static, Type } from 'typebox';
import { LIMITS } from './limits.ts';

/** The query parameters of every paginated list. */
export const PAGE_QUERY = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.pageSize.max })),
  cursor: Type.Optional(Type.String({ maxLength: LIMITS.cursorCharacters })),
};

export const PageQuerySchema = Type.Object(PAGE_QUERY);
export type PageQuery = Static<typeof PageQuerySchema>;
