/**
 * The program that draws cards, in a process of its own beside the site: it may be slow, hang or crash without the site noticing,
 * and its memory is given back when it ends. It knows no settings, no database and no network.
 */
import { constants, setPriority } from 'node:os';
import type { PainterMessage, PaintOrder } from './card.ts';

const [fontFolder] = process.argv.slice(2);
if (fontFolder === undefined || process.send === undefined) throw new Error('This program is started by the site');

// Whoever waits for a page goes before whoever waits for a picture.
try {
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // Where that is not allowed, cards are drawn at the same priority.
}
// Ctrl-C in a terminal reaches the whole group: the site stops in order, and then ends this.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('disconnect', () => process.exit());

const say = (message: PainterMessage) => process.send?.(message);

// The canvas looks for the fonts of the system as soon as it is loaded.
process.env.DISABLE_SYSTEM_FONTS_LOAD = '1';
const { createPaintCard } = await import('./paint-card.ts');
const paint = createPaintCard(fontFolder);

process.on('message', ({ number, card }: PaintOrder) => {
  paint(card).then(
    (png) => say({ kind: 'painted', number, png, residentBytes: process.memoryUsage.rss() }),
    (error: unknown) => say({ kind: 'failed', number, reason: String(error) }),
  );
});
say({ kind: 'ready' });
