#!/usr/bin/env node
// Recomputes the leaderboards of a Groundswell site from their tallies, and compares them with what the site shows.
//   node recount.mjs https://launches.example [2026-11-21]   every day, or one day with its table
// Exits with code 0 if everything agrees, 1 at the first difference, or 2 if it could not check. Needs only Node.js 20.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const [site, onlyDay] = process.argv.slice(2);
const [MAX_ATTEMPTS, RETRY_MS] = [12, 6000]; // Votes show up to five seconds late, a new status up to a minute.
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
class Difference extends Error {}
function agree(what, recounted, shown) {
  if (recounted !== shown) throw new Difference(`${what}: recounted ${recounted}, the site shows ${shown}`);
}

/** Sends a GET request. Repeats it if the response is an error with a Retry-After of at most a minute. */
async function get(path, attempts = 10) {
  const response = await fetch(new URL(path, site));
  if (response.ok) return response;
  const seconds = Number(response.headers.get('retry-after'));
  if (attempts === 1 || !(seconds > 0 && seconds <= 60)) throw new Error(`${path} responded ${response.status}`);
  await sleep(seconds * 1000);
  return get(path, attempts - 1);
}

async function getAll(path, cursor) {
  const page = await (await get(`${path}&limit=100${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`)).json();
  if (page.nextCursor === null) return page;
  return { ...page, items: [...page.items, ...(await getAll(path, page.nextCursor)).items] };
}

async function readTally(day) {
  const [digest, decoder] = [createHash('sha256'), new TextDecoder()];
  let [header, products, rest, last] = [undefined, new Map(), '', ''];
  for await (const chunk of (await get(`/api/leaderboards/${day}/tally`)).body) {
    digest.update(chunk);
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop();
    if (header === undefined && lines.length > 0) {
      header = JSON.parse(lines.shift());
      agree('version of the tally', header.tally, 1);
      products = new Map(header.products.map((row) => [row.id, { ...row, votes: 0, excluded: 0, voters: new Set() }]));
    }
    for (const line of lines) last = countVote(products, JSON.parse(line), last, day);
  }
  agree(`${day}: text after the last line`, rest, '');
  return { header, products, digest: `sha256:${digest.digest('hex')}` };
}

function countVote(products, { product: id, voter, at, counted, reason }, last, day) {
  const product = products.get(id);
  const place = `${day}, ${id}, vote of ${voter} at ${at}`;
  if (product === undefined) throw new Difference(`${place}: the product did not launch on this day`);
  const age = Date.parse(at) - Date.parse(product.launchedAt); // Tallies omit the milliseconds of votes.
  if (!(age > -1000 && age < 24 * 60 * 60 * 1000)) throw new Difference(`${place}: outside the launch window`);
  agree(`${place}: counted`, reason === null, counted);
  if (product.voters.has(voter)) throw new Difference(`${place}: this voter is listed twice`);
  product.voters.add(voter);
  const key = `${id}\n${at}\n${voter}`;
  if (key <= last) throw new Difference(`${place}: out of order`);
  product[counted ? 'votes' : 'excluded'] += 1;
  return key;
}

/** Sorts by votes, most first. Equal votes share a rank, and are ordered by SHA-256(period + "/" + id). */
function rank(day, products) {
  const board = [...products.values()].map((product) => ({ ...product, order: sha256(`${day}/${product.id}`) }));
  board.sort((a, b) => b.votes - a.votes || (a.order < b.order ? -1 : 1));
  const isTied = ({ votes }, index) => votes === board[index - 1]?.votes || votes === board[index + 1]?.votes;
  const rankOf = (row) => board.findIndex(({ votes }) => votes === row.votes) + 1;
  return board.map((row, index) => ({ ...row, rank: rankOf(row), tied: isTied(row, index) }));
}

// A result may change between the two requests, and leaderboards lag. So unless it is final, a difference counts
// only if the next attempt finds the same one in the same tally. Returns whether everything agrees.
async function recount(day) {
  for (let attempt = 1, last = ''; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const tally = await readTally(day);
    const shown = await getAll(`/api/leaderboards/${day}?`);
    try {
      const isSame = tally.header.status === shown.status && tally.header.revision === shown.revision;
      if (isSame) return compare(day, tally, shown);
    } catch (difference) {
      if (shown.status === 'final' || last === tally.digest + difference.message) throw difference;
      last = tally.digest + difference.message;
    }
    await sleep(RETRY_MS);
  }
  return false;
}

function compare(day, tally, shown) {
  for (const field of ['period', 'from', 'to']) agree(`${day}: ${field}`, tally.header[field], shown[field]);
  agree(`${day}: digest`, shown.status === 'final' ? tally.digest : null, shown.digest);
  const board = rank(day, tally.products);
  for (const count of [shown.launches, shown.items.length]) agree(`${day}: launches`, board.length, count);
  for (const [index, product] of board.entries()) {
    const row = shown.items[index];
    agree(`${day}: product in place ${index + 1}`, product.id, row.productId);
    for (const field of ['rank', 'tied', 'votes', 'excluded', 'launchedAt'])
      agree(`${day}, ${product.id}: ${field}`, product[field], row[field]);
  }
  if (onlyDay) console.table(board.map(({ rank, id, votes, excluded }) => ({ rank, product: id, votes, excluded })));
  const votes = board.reduce((sum, product) => sum + product.votes, 0);
  console.log(`${day}: launches: ${board.length}, counted votes: ${votes}, ${shown.status}: everything agrees`);
  return true;
}

try {
  if (!site) throw new Error('no site was given. Usage: node recount.mjs SITE [DAY]');
  const days = onlyDay ? [onlyDay] : (await getAll('/api/leaderboards?kind=day')).items.map(({ period }) => period);
  for (const day of days) {
    if (await recount(day)) continue;
    console.error(`Could not check: ${day} changed during each of ${MAX_ATTEMPTS} attempts. Try again later.`);
    process.exitCode = 2;
  }
} catch (error) {
  console.error(error instanceof Difference ? `Difference: ${error.message}` : `Could not check: ${error.message}`);
  process.exitCode = error instanceof Difference ? 1 : 2;
}
