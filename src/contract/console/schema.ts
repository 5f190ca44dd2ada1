import { type Static, Type } from 'typebox';
import { TEXT_FORMAT } from '../text.ts';
import { PASSPHRASE_CHARACTERS } from './records.ts';

const Passphrase = Type.String({ maxLength: PASSPHRASE_CHARACTERS.max });

export const SignInSchema = Type.Object({
  name: Type.String({ maxLength: 100, format: TEXT_FORMAT }),
  passphrase: Passphrase,
});

export const AcceptInvitationSchema = Type.Object({ token: Type.String({ maxLength: 100 }), passphrase: Passphrase });

/** The session of the operator who sends the request. */
export const ConsoleSessionSchema = Type.Object({
  operator: Type.String(),
  siteName: Type.String(),
  siteLogo: Type.Optional(Type.String()),
});

export type SignIn = Static<typeof SignInSchema>;
export type ConsoleSession = Static<typeof ConsoleSessionSchema>;
