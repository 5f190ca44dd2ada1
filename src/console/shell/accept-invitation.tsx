import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { PASSPHRASE_CHARACTERS } from '../../contract/console/operators.ts';
import type { ConsoleSession } from '../../contract/console/schema.ts';
import { call, messageOf } from '../api/console-api.ts';
import { Gate, GateFault } from './gate.tsx';

interface Props {
  token: string;
  onAccepted: (session: ConsoleSession) => void;
  onLeave: () => void;
}

/** The page on which an invited operator sets a passphrase. */
export function AcceptInvitation({ token, onAccepted, onLeave }: Props) {
  const [passphrase, setPassphrase] = useState('');
  const [isShown, setShown] = useState(false);
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => call<{ operator: string }>('/invitation', { method: 'POST', body: { token } }),
  });
  const accept = useMutation({
    mutationFn: () => call<ConsoleSession>('/invitation/accept', { method: 'POST', body: { token, passphrase } }),
    onSuccess: onAccepted,
  });
  const missing = PASSPHRASE_CHARACTERS.min - [...passphrase.normalize('NFKC')].length;

  useEffect(() => {
    document.title = 'Invitation · Console';
  }, []);

  if (invitation.isPending) return null;
  if (invitation.isError)
    return (
      <Gate title="This invitation does not work">
        <p>
          {/* The command stands between backticks. */}
          {messageOf(invitation.error)
            .split('`')
            .map((part, index) => (index % 2 === 1 ? <code key={part}>{part}</code> : part))}
        </p>
        <button type="button" className="button" data-tone="outline" onClick={onLeave}>
          Sign in instead
        </button>
      </Gate>
    );
  return (
    <Gate title={`Welcome, ${invitation.data.operator}`}>
      <p>Choose a passphrase for the console. Four or five unrelated words are easy to remember and hard to guess.</p>
      <form className="form" action={() => accept.mutate()} onReset={(event) => event.preventDefault()}>
        {/* For password managers. */}
        <input type="hidden" name="username" autoComplete="username" value={invitation.data.operator} readOnly />
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
        {accept.isError && <GateFault>{messageOf(accept.error)}</GateFault>}
        <button type="submit" className="button" data-tone="primary" disabled={missing > 0 || accept.isPending}>
          {accept.isPending ? 'Setting …' : 'Set passphrase and sign in'}
        </button>
      </form>
    </Gate>
  );
}
