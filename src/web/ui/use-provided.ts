import { type Context, useContext } from 'react';

/** Reads a context. Throws without a provider, because a default value would hide the missing provider. */
export function useProvided<Value>(context: Context<Value | null>): Value {
  const value = useContext(context);
  if (value === null) throw new Error('A context has no provider');
  return value;
}
