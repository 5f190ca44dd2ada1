import { type Context, useContext } from 'react';

/** Reads a context. Throws an error if there is no provider, because a default value would hide the mistake. */
export function useProvided<Value>(context: Context<Value | null>): Value {
  const value = useContext(context);
  if (value === null) throw new Error('A context has no provider');
  return value;
}
