import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ConsoleSession, SignIn as SignInBody } from '../../contract/console/schema.ts';
import { call, messageOf } from '../api/console-api.ts';
import { Gate, GateFault } from './gate.tsx';

export function SignIn({ onSignedIn }: { onSignedIn: (session: ConsoleSession) => void }) {
  const name = useRef<HTMLInputElement>(null);
  const passphrase = useRef<HTMLInputElement>(null);
  const signIn = useMutation({
    mutationFn: (body: SignInBody) => call<ConsoleSession>('/sign-in', { method: 'POST', body }),
    onSuccess: onSignedIn,
    onError: () => passphrase.current?.select(),
  });

  useEffect(() => {
    document.title = 'Sign in · Console';
    name.current?.focus();
  }, []);

  return (
    <Gate title="Sign in to the console">
      <form
        className="form"
        action={(form) =>
          signIn.mutate({ name: text(form, 'name').trim().toLowerCase(), passphrase: text(form, 'passphrase') })
        }
        onReset={(event) => event.preventDefault()}
      >
        <label className="field">
          <span>Name</span>
          <input
            ref={name}
            name="name"
            autoComplete="username"
            autoCapitalize="none"
            spellCheck={false}
            required
            maxLength={100}
          />
        </label>
        <label className="field">
          <span>Passphrase</span>
          <input
            ref={passphrase}
            name="passphrase"
            type="password"
            autoComplete="current-password"
            required
            maxLength={1_000}
          />
        </label>
        {signIn.isError && <GateFault>{messageOf(signIn.error)}</GateFault>}
        <button type="submit" className="button" data-tone="primary" disabled={signIn.isPending}>
          {signIn.isPending ? 'Signing in …' : 'Sign in'}
        </button>
      </form>
      <p className="gate-note">
        Forgot the passphrase? Run <code>groundswell console invite</code> on the server for a link to set a new one.
      </p>
    </Gate>
  );
}

export function text(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}
