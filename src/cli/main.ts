import { buildProgram } from './program.ts';
import { reportFailure } from './report-failure.ts';
import { handleOutputErrors } from './terminal/output.ts';
import { InterruptedError } from './with-database.ts';

handleOutputErrors();
try {
  await buildProgram().parseAsync();
} catch (error) {
  process.exitCode = reportFailure(error);
  if (error instanceof InterruptedError) process.exit();
}
