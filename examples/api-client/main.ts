import { randomUUID } from 'node:crypto';
import { allProducts, createApiClient } from './client.ts';

const address = process.argv[2] ?? 'http://127.0.0.1:3000';
const client = createApiClient(address);

// This id identifies the visitor. Store it, and keep it secret.
const session = { 'X-User-Session': `session-${randomUUID()}` };

const products: { id: string; name: string; upvotes: number }[] = [];
for await (const product of allProducts(client, { sort: 'top' })) products.push(product);
console.log(`${products.length} products`);

const [first] = products;
if (first === undefined) throw new Error('The site has no product');
const path = { id: first.id };

const upvote = await client.PUT('/api/products/{id}/upvote', { params: { path, header: session } });
console.log(`${first.name}: upvoted ${upvote.data?.upvoted}, ${upvote.data?.upvotes} upvotes`);

const mine = await client.GET('/api/upvotes', { params: { query: { products: first.id }, header: session } });
console.log(`My upvotes: ${mine.data?.upvoted.join(', ')}`);

// The request is sent twice, as after a lost response, but only one comment is created.
const draft = { ...session, 'Idempotency-Key': randomUUID() };
const body = { productId: first.id, content: 'Said by a program.' };
const created = await client.POST('/api/comments', { params: { header: draft }, body });
const again = await client.POST('/api/comments', { params: { header: draft }, body });
console.log(`Commented: ${created.response.status}, then ${again.response.status}`);
console.log(`One comment: ${created.data?.comment.id === again.data?.comment.id}`);

const known = await client.GET('/api/products/{id}', { params: { path } });
const tag = known.response.headers.get('ETag') ?? '';
const { response } = await client.GET('/api/products/{id}', { params: { path, header: { 'If-None-Match': tag } } });
console.log(`Unchanged: ${response.status === 304}`);

const missing = await client.GET('/api/products/{id}', { params: { path: { id: 'no-such-product' } } });
console.log(`Problem: ${missing.error?.code}`);
