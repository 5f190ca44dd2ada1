// Draws the tiles and avatars, and updates the fields of products.json and comments.json that name pictures.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { avatarSvg, defaultAvatarSvg, placeholderSvg } from './lib/avatar.mjs';
import { catalogueFolder, picturesFolder, readJson, readProducts, slugOf } from './lib/catalogue.mjs';
import { tileSvg } from './lib/tile.mjs';

const products = await readProducts();
const comments = await readJson('comments.json');
const people = new Set();
const avatarOf = (name) => {
  people.add(name);
  return `/pictures/avatars/${slugOf(name)}.svg`;
};

const rows = [];
for (const product of products) {
  const folder = new URL(`${product.id}/`, picturesFolder);
  await mkdir(folder, { recursive: true });
  await writeFile(new URL('tile.svg', folder), tileSvg(product));
  const shots = (await readdir(folder)).filter((file) => /^shot-\d+\.webp$/.test(file)).sort();
  const { tile, ...fields } = product;
  rows.push({
    ...fields,
    image: `/pictures/${product.id}/tile.svg`,
    team: product.team.map(({ name, role }) => ({ name, avatar: avatarOf(name), role })),
    screenshots: shots.map((file) => `/pictures/${product.id}/${file}`),
  });
}
const commentRows = comments.map((comment) => ({
  ...comment,
  authorAvatar: avatarOf(comment.authorName),
  authorBadge: 'Sample',
}));

const avatars = new URL('avatars/', picturesFolder);
await rm(avatars, { recursive: true, force: true });
await mkdir(avatars, { recursive: true });
for (const name of people) await writeFile(new URL(`${slugOf(name)}.svg`, avatars), avatarSvg(name));
await writeFile(new URL('avatar-default.svg', picturesFolder), defaultAvatarSvg);
await writeFile(new URL('placeholder.svg', picturesFolder), placeholderSvg);

const write = (file, value) => writeFile(new URL(file, catalogueFolder), `${JSON.stringify(value, null, 2)}\n`);
await write('products.json', rows);
await write('comments.json', commentRows);
console.log(`${rows.length} products, ${people.size} avatars, ${commentRows.length} comments`);
