import { buildProgram } from './program.ts';
import { reportFailure } from './report-failure.ts';
import { InterruptedError } from './with-database.ts';

try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error);
  if (error instanceof InterruptedError) process.exit();
}
