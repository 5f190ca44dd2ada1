import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { CONSOLE_API } from '../../contract/console/paths.ts';
import { PASSPHRASE_CHARACTERS } from '../../contract/console/records.ts';
import type { ConsoleSession, SignIn as SignInBody } from '../../contract/console/schema.ts';
import { WaveMark } from '../../web/ui/icons.tsx';
import { ConsoleError, call, consoleKeys, isOutcomeUnknown, messageOf } from '../api/console-api.ts';
import { FocusableButton } from '../ui/focusable-button.tsx';
import { withCode } from '../ui/states.tsx';

export function SignIn({ onSignedIn }: { onSignedIn: (session: ConsoleSession) => void }) {
  const name = useRef<HTMLInputElement>(null);
  const passphrase = useRef<HTMLInputElement>(null);
  const signIn = useMutation({
    mutationFn: (body: SignInBody) => call<ConsoleSession>(CONSOLE_API.signIn, { method: 'POST', body }),
    onSuccess: onSignedIn,
    onError: () => passphrase.current?.select(),
  });

  useEffect(() => {
    document.title = 'Sign in · Console';
    name.current?.focus();
  }, []);

  return (
    <SignInLayout title="Sign in to the console">
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
            maxLength={PASSPHRASE_CHARACTERS.max}
          />
        </label>
        {signIn.isError && <SignInError>{messageOf(signIn.error)}</SignInError>}
        <FocusableButton type="submit" data-tone="primary" isDisabled={signIn.isPending}>
          {signIn.isPending ? 'Signing in …' : 'Sign in'}
        </FocusableButton>
      </form>
      <p className="gate-note">
        Forgot the passphrase? Run <code>groundswell console invite</code> on the server for a link to set a new one.
      </p>
    </SignInLayout>
  );
}

function text(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value : '';
}

interface Props {
  token: string;
  onAccepted: (session: ConsoleSession) => void;
  onLeave: () => void;
}

/** The page on which an invited operator sets a passphrase. */
export function AcceptInvitation({ token, onAccepted, onLeave }: Props) {
  const [passphrase, setPassphrase] = useState('');
  const [isShown, setShown] = useState(false);
  /** Whether the outcome of an attempt is unknown, so the attempt may have used the invitation. */
  const [mayBeUsed, setMayBeUsed] = useState(false);
  const invitation = useQuery({
    queryKey: consoleKeys.invitation(token),
    queryFn: () => call<{ operator: string }>(CONSOLE_API.invitation, { method: 'POST', body: { token } }),
  });
  const accept = useMutation({
    mutationFn: () =>
      call<ConsoleSession>(CONSOLE_API.acceptInvitation, { method: 'POST', body: { token, passphrase } }),
    onSuccess: onAccepted,
    onError: (error) => {
      if (isOutcomeUnknown(error)) setMayBeUsed(true);
    },
  });
  const isInvalid = isInvalidInvitation(accept.error);
  const missing = PASSPHRASE_CHARACTERS.min - [...passphrase.normalize('NFKC')].length;

  useEffect(() => {
    document.title = 'Invitation · Console';
  }, []);

  if (invitation.isPending) return null;
  if (!invitation.data)
    return (
      <SignInLayout title="This invitation could not be opened">
        <p>{withCode(invitation.error?.message ?? '')}</p>
        {!isInvalidInvitation(invitation.error) && (
          <button type="button" className="button" data-tone="primary" onClick={() => void invitation.refetch()}>
            Try again
          </button>
        )}
        <SignInInstead onClick={onLeave} />
      </SignInLayout>
    );
  return (
    <SignInLayout title={`Welcome, ${invitation.data.operator}`}>
      <p>Choose a passphrase for the console. Four or five unrelated words are easy to remember and hard to guess.</p>
      <form className="form" action={() => accept.mutate()} onReset={(event) => event.preventDefault()}>
        {/* Password managers store this name with the passphrase. They ignore inputs of type `hidden`. */}
        <input type="text" name="username" autoComplete="username" value={invitation.data.operator} readOnly hidden />
        <label className="field">
          <span>Passphrase</span>
          <input
            name="passphrase"
            type={isShown ? 'text' : 'password'}
            autoComplete="new-password"
            required
            maxLength={PASSPHRASE_CHARACTERS.max}
            aria-describedby="passphrase-length"
            value={passphrase}
            onChange={(event) => setPassphrase(event.target.value)}
          />
        </label>
        <div className="gate-row">
          <span id="passphrase-length" className="gate-note">
            {missing > 0 ? `${missing} more ${missing === 1 ? 'character' : 'characters'}` : 'Long enough'}
          </span>
          <label className="check">
            <input type="checkbox" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
            Show it
          </label>
        </div>
        {accept.isError && (
          <SignInError>
            {isInvalid && mayBeUsed && 'An earlier attempt may have set its passphrase. Try to sign in with it. '}
            {messageOf(accept.error)}
          </SignInError>
        )}
        <FocusableButton type="submit" data-tone="primary" isDisabled={missing > 0 || accept.isPending}>
          {accept.isPending ? 'Setting …' : 'Set passphrase and sign in'}
        </FocusableButton>
        {isInvalid && <SignInInstead onClick={onLeave} />}
      </form>
    </SignInLayout>
  );
}

function isInvalidInvitation(error: Error | null): boolean {
  return error instanceof ConsoleError && error.code === 'invitation_invalid';
}

function SignInInstead({ onClick }: { onClick: () => void }) {
  return (
    <button type="button" className="button" data-tone="outline" onClick={onClick}>
      Sign in instead
    </button>
  );
}

/** The layout of the pages before sign-in: one card over the background. */
function SignInLayout({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main className="gate">
      <div className="gate-card card">
        <div>
          <WaveMark />
        </div>
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}

/** Shows why the last attempt failed. Screen readers announce it when it appears. */
function SignInError({ children }: { children: ReactNode }) {
  return (
    <p className="gate-error" role="alert">
      {children}
    </p>
  );
}
