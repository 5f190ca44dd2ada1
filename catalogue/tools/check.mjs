// Checks the catalogue: node catalogue/tools/check.mjs. Prints each fault on one line. Exits with code 1 if there are
// faults. Needs no packages.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { pictureDimensions } from './lib/dimensions.mjs';

const folder = new URL('../', import.meta.url);
const read = (file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
const products = read('products.json');
const comments = read('comments.json');
const upvotes = read('upvotes.json');
const sizes = read('pictures.json');
const tiles = read('tools/tiles.json');
const faults = [];
const DAY_MS = 24 * 60 * 60 * 1000;
const must = (holds, fault) => holds || faults.push(fault);
const distinct = (list) => new Set(list).size === list.length;
const isPicture = (url, where) => {
  must(Object.hasOwn(sizes, url), `${where}: ${url} has no size in pictures.json`);
  must(url.startsWith('/pictures/') && existsSync(new URL(`.${url}`, folder)), `${where}: ${url} does not exist`);
};
const sentences = (text) => text.split(/[.!?](?=\s|$)/).filter((part) => part.trim()).length;

must(products.length >= 48, `only ${products.length} products`);
const categories = new Set(products.map((product) => product.category));
must(categories.size >= 10, `only ${categories.size} categories`);
must(distinct(products.map((product) => product.id)), 'two products share an id');
must(distinct(products.map((product) => product.createdAt)), 'two products share a creation time');
for (const [index, product] of products.entries()) {
  const { id, tags, description, screenshots, team, createdAt } = product;
  must(/^[a-z0-9-]{1,64}$/.test(id), `${id}: not a slug`);
  for (const field of ['name', 'maker', 'category', 'launchDate']) must(product[field]?.trim(), `${id}: no ${field}`);
  must(tags.length >= 3 && tags.length <= 6 && distinct(tags), `${id}: ${tags.length} tags`);
  must(sentences(description) >= 2 && sentences(description) <= 4, `${id}: ${sentences(description)} sentences`);
  must(!/[<>]/.test(description), `${id}: markup in the description`);
  must(team.length >= 1, `${id}: no team`);
  for (const { name, avatar, role } of team) {
    must(name && role, `${id}: a team member without name or role`);
    isPicture(avatar, id);
  }
  must(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(createdAt), `${id}: ${createdAt} is not UTC with milliseconds`);
  must(Date.parse(createdAt) < Date.now(), `${id}: created in the future`);
  must(index === 0 || products[index - 1].createdAt > createdAt, `${id}: not older than the product before it`);
  must(
    index === 0 || products[index - 1].category !== product.category,
    `${id}: the product before it has the same category`,
  );
  isPicture(product.image, id);
  const { colors, logo } = tiles[id] ?? {};
  must(colors?.length === 2 && colors.every((color) => /^#[0-9a-f]{6}$/.test(color)), `${id}: no colors in tiles.json`);
  must(/^(simple|logos|monogram):./.test(logo), `${id}: no logo in tiles.json`);
  must(screenshots.length >= 2 && distinct(screenshots), `${id}: ${screenshots.length} screenshots`);
  for (const url of screenshots) {
    isPicture(url, id);
    must(sizes[url]?.width === 1280 && sizes[url]?.height === 800, `${id}: ${url} is not 1280 × 800`);
  }
}

const byId = new Map(products.map((product) => [product.id, product]));
for (const id of Object.keys(tiles)) must(byId.has(id), `tile of ${id}: no such product`);
must(distinct(comments.map((comment) => comment.id)), 'two comments share an id');
for (const comment of comments) {
  const where = `comment ${comment.id}`;
  must(
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(comment.id),
    `${where}: not a UUID`,
  );
  must(comment.authorBadge === 'Sample', `${where}: not marked as a sample`);
  must(comment.content.trim() && comment.content.length <= 2000, `${where}: empty, or longer than 2,000 characters`);
  must(
    comment.createdAt > (byId.get(comment.productId)?.createdAt ?? '9'),
    `${where}: older than its product, or its product does not exist`,
  );
  isPicture(comment.authorAvatar, where);
}
const lastDay = Date.parse(`${products[0].createdAt.slice(0, 10)}T00:00:00Z`);
for (const [id, { inWindow, excluded = 0, later = 0 }] of Object.entries(upvotes)) {
  const total = inWindow + excluded + later;
  must(
    byId.has(id) && inWindow >= 0 && total <= 30,
    `upvotes of ${id}: the product does not exist, or ${total} is not from 0 to 30`,
  );
  // VOTES_PER_NETWORK votes of a network count before one is excluded.
  must(excluded === 0 || inWindow >= 20, `${id}: votes are excluded, but only ${inWindow} are counted`);
  must(
    later === 0 || lastDay - Date.parse(byId.get(id)?.createdAt) > DAY_MS,
    `${id}: votes after the window, which is still open`,
  );
}
const launchesOn = (daysAgo) =>
  products.filter(({ createdAt }) => Math.floor((lastDay + DAY_MS - 1 - Date.parse(createdAt)) / DAY_MS) === daysAgo);
for (let daysAgo = 0; daysAgo < 7; daysAgo += 1)
  must(launchesOn(daysAgo).length >= 3, `only ${launchesOn(daysAgo).length} launches ${daysAgo} days before the last`);

let bytes = 0;
const files = readdirSync(new URL('pictures/', folder), { recursive: true }).filter((file) => /\.\w+$/.test(file));
for (const file of files) {
  const url = new URL(`pictures/${file}`, folder);
  const { size } = statSync(url);
  bytes += size;
  if (file.endsWith('.svg')) must(size <= 12 * 1024, `${file}: ${size} bytes; at most 12 KiB are allowed`);
  const actual = pictureDimensions(readFileSync(url));
  const stated = sizes[`/pictures/${file}`];
  must(
    stated && actual.width === stated.width && actual.height === stated.height,
    `${file}: width or height differs from pictures.json`,
  );
}
must(Object.keys(sizes).length === files.length, 'pictures.json and pictures/ have different numbers of pictures');
must(bytes <= 8 * 1024 * 1024, `pictures take ${bytes} bytes; at most 8 MiB are allowed`);
for (const name of ['avatar-default.svg', 'placeholder.svg']) isPicture(`/pictures/${name}`, name);

for (const fault of faults) console.error(fault);
const total = `${products.length} products, ${categories.size} categories, ${files.length} pictures, ${(bytes / 2 ** 20).toFixed(2)} MiB`;
console.log(faults.length > 0 ? `${faults.length} faults` : `No faults: ${total}`);
process.exitCode = faults.length > 0 ? 1 : 0;
