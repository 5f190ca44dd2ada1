/**
 * The program that draws cards, in its own process: it may be slow, hang or crash without affecting its parent, and its
 * memory is released when it ends. It gets no settings, and uses neither database nor network.
 */
import { serveTasks } from '../../task-process/serve-tasks.ts';

const [fontFolder = ''] = process.argv.slice(2);

await serveTasks(async () => {
  const { createDrawCard } = await import('./draw-card.ts');
  return createDrawCard(fontFolder);
});
