import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Builds a notebook from samples/jupyter, executes it, and captures it in the classic interface. */
export async function jupyter({ folder, port, origin, start, page, shoot, toolsFolder }) {
  const source = readFileSync(join(toolsFolder, 'samples/jupyter/waves.py.txt'), 'utf8');
  const cells = source
    .split(/^# %%/m)
    .slice(1)
    .map((text) => {
      const markdown = text.startsWith(' [markdown]');
      const lines = text.split('\n').slice(1).join('\n').trim();
      if (markdown) return { cell_type: 'markdown', metadata: {}, source: lines.replace(/^# ?/gm, '') };
      return { cell_type: 'code', metadata: {}, source: lines, outputs: [], execution_count: null };
    });
  const kernelspec = { display_name: 'Python 3', language: 'python', name: 'python3' };
  const file = join(folder, 'waves.ipynb');
  writeFileSync(file, JSON.stringify({ cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 4 }));
  const env = { ...process.env, HOME: folder, PATH: '/usr/bin:/bin' };
  execFileSync('/usr/bin/python3', ['-m', 'nbconvert', '--to', 'notebook', '--inplace', '--execute', file], {
    env,
    stdio: 'ignore',
  });
  const options = [
    '--no-browser',
    '--allow-root',
    '--ip=127.0.0.1',
    `--port=${port}`,
    '--NotebookApp.token=',
    '--NotebookApp.password=',
    `--notebook-dir=${folder}`,
  ];
  await start('/usr/bin/jupyter-notebook', options, { env: { PATH: '/usr/bin:/bin' } });
  await page.goto(`${origin}/notebooks/waves.ipynb`);
  await page.waitForSelector('.rendered_html', { timeout: 40_000 });
  await page.waitForTimeout(5000);
  await shoot(1);
  await page.evaluate(() => document.querySelector('#site').scrollTo(0, 9999));
  await page.waitForTimeout(800);
  await shoot(2);
}
