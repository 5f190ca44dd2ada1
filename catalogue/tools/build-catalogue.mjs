// Writes products.json, comments.json, upvotes.json, the tiles and the avatars from data/.
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { comments, upvotes } from './data/comments.mjs';
import { avatarSvg, defaultAvatarSvg, placeholderSvg } from './lib/avatar.mjs';
import { catalogueFolder, picturesFolder, readProducts, slugOf } from './lib/catalogue.mjs';
import { withLaunchTimes } from './lib/launch-order.mjs';
import { tileSvg } from './lib/tile.mjs';

const products = withLaunchTimes(await readProducts());
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
  const { id, name, description, tags, category, maker, launchDate, createdAt } = product;
  rows.push({
    id,
    name,
    description,
    image: `/pictures/${id}/tile.svg`,
    tags,
    category,
    maker,
    launchDate,
    team: product.team.map(([member, role]) => ({ name: member, avatar: avatarOf(member), role })),
    screenshots: shots.map((file) => `/pictures/${id}/${file}`),
    createdAt,
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
await write('upvotes.json', upvotes);
console.log(`${rows.length} products, ${people.size} avatars, ${commentRows.length} comments`);
