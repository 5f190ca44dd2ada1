import { LIMITS } from '../../contract/limits.ts';

/** How much a product may hold, in Unicode code points and entries: a longer value is a fault of its row. */
export const PRODUCT_BOUNDS = {
  nameCharacters: 300,
  descriptionCharacters: 10_000,
  /** Category, maker, launch date, and the name and role of a member of the team. */
  shortTextCharacters: 300,
  addressCharacters: 2_048,
  tags: 20,
  tagCharacters: LIMITS.tagCharacters,
  team: 50,
  screenshots: 50,
} as const;
