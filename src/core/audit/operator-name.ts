import { userInfo } from 'node:os';

/** The name under which the operating system knows whoever runs this command. */
export function operatorName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a number that its list of users does not have.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
