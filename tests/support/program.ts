import { expect, vi } from 'vitest';
import { buildProgram } from '../../src/cli/program.ts';
import { reportFailure } from '../../src/cli/report-failure.ts';
import { SETTING_NAMES } from '../../src/settings/settings.ts';

export interface ProgramRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Runs the operator's command in this process, which is faster than a separate process. Checks that the output contains
 * no terminal control characters.
 */
export async function runProgram(parameters: readonly string[], settings: Record<string, string>): Promise<ProgramRun> {
  const written = { stdout: '', stderr: '' };
  const take = (name: 'stdout' | 'stderr', end: string) => (text: unknown) => {
    written[name] += `${text}${end}`;
    return true;
  };
  const spies = [
    vi.spyOn(console, 'log').mockImplementation(take('stdout', '\n')),
    vi.spyOn(console, 'error').mockImplementation(take('stderr', '\n')),
    vi.spyOn(process.stdout, 'write').mockImplementation(take('stdout', '')),
    vi.spyOn(process.stderr, 'write').mockImplementation(take('stderr', '')),
  ];
  // Some commands also read environment variables that are not settings.
  for (const name of new Set([...SETTING_NAMES, ...Object.keys(settings)])) vi.stubEnv(name, settings[name]);
  const exitCodeBefore = process.exitCode;
  process.exitCode = 0;
  try {
    await buildProgram()
      .parseAsync(parameters, { from: 'user' })
      .catch((error: unknown) => {
        process.exitCode = reportFailure(error);
      });
    return { code: Number(process.exitCode), ...written };
  } finally {
    process.exitCode = exitCodeBefore;
    vi.unstubAllEnvs();
    for (const spy of spies) spy.mockRestore();
    expect((written.stdout + written.stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  }
}

/** Runs a command that must succeed and print nothing but JSON. @returns the parsed output. */
export async function jsonOf<Result>(parameters: readonly string[], settings: Record<string, string>): Promise<Result> {
  return JSON.parse(outputOf(await runProgram([...parameters, '--json'], settings)));
}

/** Returns the output of a command, which must have succeeded and printed only its result. */
export function outputOf({ code, stdout, stderr }: ProgramRun): string {
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  return stdout;
}
