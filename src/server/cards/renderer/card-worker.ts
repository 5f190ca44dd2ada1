/**
 * Draws cards in a separate process, which may be slow, hang or crash without affecting its parent, and releases its
 * memory when it ends. The process gets no settings, and uses neither database nor network.
 */
import { serveTasks } from '../../task-process/serve-tasks.ts';

const [fontFolder = ''] = process.argv.slice(2);

await serveTasks(async () => {
  const { createDrawCard } = await import('./draw-card.ts');
  return createDrawCard(fontFolder);
});
