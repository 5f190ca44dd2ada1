#!/usr/bin/env node
// Recomputes the leaderboards of a Groundswell site from their tallies, and compares them with what the site shows.
//   node recount.mjs https://launches.example 2026-11-21   one day, with its table
//   node recount.mjs https://launches.example              every day
// Exits with code 0 if everything agrees, 1 at the first difference, or 2 if it could not check. Needs only Node.js 20.
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const [site, onlyDay] = process.argv.slice(2);
const WINDOW_MS = 24 * 60 * 60 * 1000;
const BOARD_DELAY_MS = 6000; // A board shows votes up to five seconds late.
const MAX_ATTEMPTS = 12; // For a minute, a board may show its previous status.
const sha256 = (data) => createHash('sha256').update(data).digest('hex');
class Difference extends Error {}
function agree(what, recounted, shown) {
  if (recounted === shown) return;
  throw new Difference(`${what}: recounted ${JSON.stringify(recounted)}, the site shows ${JSON.stringify(shown)}`);
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
  const tally = { header: undefined, products: new Map(), digest: '' };
  let [rest, last] = ['', ''];
  for await (const chunk of (await get(`/api/leaderboards/${day}/tally`)).body) {
    digest.update(chunk);
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop();
    for (const line of lines) {
      if (tally.header === undefined) readHeader(tally, JSON.parse(line));
      else last = countVote(tally, JSON.parse(line), last, day);
    }
  }
  agree(`${day}: text after the last line`, rest, '');
  return { ...tally, digest: `sha256:${digest.digest('hex')}` };
}

function readHeader(tally, header) {
  agree('version of the tally', header.tally, 1);
  tally.header = header;
  for (const row of header.products) tally.products.set(row.id, { ...row, votes: 0, excluded: 0, voters: new Set() });
}

function countVote(tally, { product: id, voter, at, counted, reason }, last, day) {
  const product = tally.products.get(id);
  const place = `${day}, ${id}, vote of ${voter} at ${at}`;
  if (product === undefined) throw new Difference(`${place}: the product did not launch on this day`);
  const age = Date.parse(at) - Math.floor(Date.parse(product.launchedAt) / 1000) * 1000;
  if (!(age >= 0 && age <= WINDOW_MS)) throw new Difference(`${place}: outside the launch window`);
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
  let rank = 0;
  return board.map((row, index) => {
    const [above, below] = [board[index - 1]?.votes, board[index + 1]?.votes];
    if (row.votes !== above) rank = index + 1;
    return { ...row, rank, tied: row.votes === above || row.votes === below };
  });
}

/**
 * A result may change between the two requests, and boards lag. So a difference is only reported if two attempts find
 * it with the same tally and, unless the result is final, the board had time to catch up.
 * @returns whether everything agrees; false if no difference is certain. @throws Difference
 */
async function recount(day, printTable) {
  let [delayMs, last] = [0, ''];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const tally = await readTally(day);
    await sleep(delayMs);
    const shown = await getAll(`/api/leaderboards/${day}?`);
    try {
      if (compare(day, tally, shown, printTable)) return true;
      delayMs = BOARD_DELAY_MS;
    } catch (difference) {
      const found = `${tally.digest} ${difference.message}`;
      if (found === last) throw difference;
      if (delayMs > 0 || shown.status === 'final') last = found;
      else delayMs = BOARD_DELAY_MS;
    }
  }
  return false;
}

/** @returns false if the site shows another status or revision than the tally. @throws Difference */
function compare(day, tally, shown, printTable) {
  if (tally.header.status !== shown.status || tally.header.revision !== shown.revision) return false;
  for (const field of ['period', 'from', 'to']) agree(`${day}: ${field}`, tally.header[field], shown[field]);
  if (shown.status === 'final') agree(`${day}: digest`, tally.digest, shown.digest);
  const board = rank(day, tally.products);
  for (const count of [shown.launches, shown.items.length]) agree(`${day}: launches`, board.length, count);
  for (const [index, product] of board.entries()) {
    const row = shown.items[index];
    agree(`${day}: product in place ${index + 1}`, product.id, row.productId);
    for (const field of ['rank', 'tied', 'votes', 'excluded', 'launchedAt'])
      agree(`${day}, ${product.id}: ${field}`, product[field], row[field]);
  }
  if (printTable) console.table(board.map(({ rank, id, votes, excluded }) => ({ rank, product: id, votes, excluded })));
  const votes = board.reduce((sum, product) => sum + product.votes, 0);
  const launches = board.length === 1 ? '1 launch' : `${board.length} launches`;
  const counted = votes === 1 ? '1 counted vote' : `${votes} counted votes`;
  console.log(`${day}: ${launches}, ${counted}, ${shown.status}: everything agrees`);
  return true;
}

try {
  if (!site) throw new Error('no site was given. Usage: node recount.mjs SITE [DAY]');
  const days = onlyDay ? [onlyDay] : (await getAll('/api/leaderboards?kind=day')).items.map(({ period }) => period);
  for (const day of days) {
    if (await recount(day, Boolean(onlyDay))) continue;
    console.error(`Could not check: ${day} changed during each of ${MAX_ATTEMPTS} attempts. Try again later.`);
    process.exitCode = 2;
  }
} catch (error) {
  console.error(error instanceof Difference ? `Difference: ${error.message}` : `Could not check: ${error.message}`);
  process.exitCode = error instanceof Difference ? 1 : 2;
}
