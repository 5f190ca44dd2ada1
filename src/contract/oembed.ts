import { type Static, Type } from 'typebox';
import { TEXT_FORMAT } from './text.ts';

/** A consumer's request (oembed.com): how to embed the page at `url`. Bounds are pixels. */
export const OembedQuerySchema = Type.Object({
  url: Type.String({ format: TEXT_FORMAT, maxLength: 2_000 }),
  format: Type.Optional(Type.String()),
  maxwidth: Type.Optional(Type.Integer({ minimum: 1 })),
  maxheight: Type.Optional(Type.Integer({ minimum: 1 })),
});

/** The response: a link around the product's card, without a script or a frame. */
export const OembedSchema = Type.Object({
  version: Type.Literal('1.0'),
  type: Type.Literal('rich'),
  title: Type.String(),
  author_name: Type.String(),
  provider_name: Type.String(),
  provider_url: Type.String(),
  /** Seconds for which a consumer may keep it. */
  cache_age: Type.Integer({ minimum: 0 }),
  html: Type.String(),
  width: Type.Integer({ minimum: 1 }),
  height: Type.Integer({ minimum: 1 }),
  thumbnail_url: Type.Optional(Type.String()),
  thumbnail_width: Type.Optional(Type.Integer()),
  thumbnail_height: Type.Optional(Type.Integer()),
});

export type OembedQuery = Static<typeof OembedQuerySchema>;
export type Oembed = Static<typeof OembedSchema>;
