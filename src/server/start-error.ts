import { systemCode } from '../core/file-system.ts';

/** A reason why the server cannot start. The message is one line, which also says what to do if that is known. */
export class StartError extends Error {
  override readonly name = 'StartError';

  /** Converts an error of `listen`. If its code is known, the message names the setting to change. */
  static ofListening(
    error: unknown,
    host: string,
    port: number,
    setting: 'PORT' | 'METRICS_PORT' = 'PORT',
  ): StartError {
    const options = { cause: error };
    switch (systemCode(error)) {
      case 'EADDRINUSE':
        return new StartError(
          `${setting}: another program already listens on ${host}:${port}. Stop that program, or set ${setting} to another number (0 picks a free one).`,
          options,
        );
      case 'EACCES':
        return new StartError(
          `${setting}: port ${port} requires privileges that this user does not have. Set ${setting} to 1024 or more.`,
          options,
        );
      case 'EADDRNOTAVAIL':
      case 'ENOTFOUND':
      case 'EAI_AGAIN':
        return new StartError(
          `HOST: '${host}' is not an address of this machine, or cannot be resolved. Use 127.0.0.1, or 0.0.0.0 for all addresses.`,
          options,
        );
      default:
        return new StartError(
          `The server cannot listen on ${host}:${port}: ${error instanceof Error ? error.message : error}. Check HOST and ${setting}.`,
          options,
        );
    }
  }
}
