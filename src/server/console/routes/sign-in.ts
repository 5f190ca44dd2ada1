import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { CONSOLE_API } from '../../../contract/console/paths.ts';
import {
  AcceptInvitationSchema,
  type ConsoleSession,
  ConsoleSessionSchema,
  SignInSchema,
} from '../../../contract/console/schema.ts';
import { endSession, endSessionsOf } from '../../../core/console/sessions.ts';
import {
  acceptInvitation,
  isKnownDevice,
  readInvitation,
  type SignedIn,
  signIn,
} from '../../../core/console/sign-in.ts';
import { CoreError } from '../../../core/core-error.ts';
import { requestIdsOf } from '../../http/request-keys.ts';
import { createNetworkBuckets, createTokenBuckets, type TokenBuckets } from '../../limits/token-buckets.ts';
import type { ConsoleOptions } from '../console-options.ts';
import type { ConsoleCookies } from '../cookies.ts';

type Options = Pick<ConsoleOptions, 'database' | 'runtime' | 'siteName' | 'siteLogo' | 'streams'> & {
  cookies: ConsoleCookies;
};

/** Routes for signing in and out, and for invitations. */
export const signInRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { database, runtime, siteName, siteLogo, streams, cookies },
) => {
  const limits = createSignInLimits(runtime.monotonicMs);
  const site = { siteName, ...(siteLogo !== undefined && { siteLogo }) };
  const response = { 200: ConsoleSessionSchema };

  function welcome(reply: FastifyReply, { operator, sessionToken, deviceToken }: SignedIn): ConsoleSession {
    cookies.setSession(reply, sessionToken);
    cookies.setDevice(reply, deviceToken);
    return { operator, ...site };
  }

  app.get(CONSOLE_API.session, { schema: { response } }, async ({ operator }) => ({ operator, ...site }));

  app.post(
    CONSOLE_API.signIn,
    { config: { isOpenToAll: true }, schema: { body: SignInSchema, response } },
    async (request, reply) => {
      const { name, passphrase } = request.body;
      const deviceToken = cookies.deviceOf(request);
      const knownDevice = (await isKnownDevice(database, name, deviceToken)) ? deviceToken : undefined;
      const charged = limits.charge({ name, address: request.ip, knownDevice }, reply);
      try {
        const before = cookies.sessionOf(request);
        const signedIn = await signIn(database, { name, passphrase, knownDevice, before, now: runtime.now() });
        charged.refund();
        request.log.info({ operator: name, ...requestIdsOf(request) }, 'An operator signed in to the console');
        return welcome(reply, signedIn);
      } catch (error) {
        // The name is not logged, because it may be a passphrase that was entered into the wrong field.
        if (error instanceof CoreError && error.code === 'sign_in_failed')
          request.log.warn(requestIdsOf(request), 'A sign-in to the console failed');
        else charged.refund();
        throw error;
      }
    },
  );

  app.post(
    CONSOLE_API.invitation,
    {
      config: { isOpenToAll: true },
      schema: {
        body: Type.Pick(AcceptInvitationSchema, ['token']),
        response: { 200: Type.Object({ operator: Type.String() }) },
      },
    },
    async (request) => ({ operator: await readInvitation(database, request.body.token, runtime.now()) }),
  );

  app.post(
    CONSOLE_API.acceptInvitation,
    { config: { isOpenToAll: true }, schema: { body: AcceptInvitationSchema, response } },
    async (request, reply) => {
      const before = cookies.sessionOf(request);
      return welcome(reply, await acceptInvitation(database, { ...request.body, before, now: runtime.now() }));
    },
  );

  app.post(CONSOLE_API.signOut, { config: { isOpenToAll: true } }, async (request, reply) => {
    await endSession(database, cookies.sessionOf(request));
    cookies.clearSession(reply);
    void streams.endSignedOut();
    return reply.code(204).send();
  });

  app.post(CONSOLE_API.signOutEverywhere, async (request, reply) => {
    await endSessionsOf(database, request.operator);
    cookies.clearSession(reply);
    void streams.endSignedOut();
    return reply.code(204).send();
  });
};

/** The properties of a sign-in attempt on which the limits depend. */
export interface SignInAttempt {
  name: string;
  address: string | undefined;
  /** The token of a browser in which this operator signed in before; undefined for any other browser. */
  knownDevice: string | undefined;
}

export interface SignInLimits {
  /**
   * Charges the attempt to every limit that applies. If it is refused, sets `Retry-After` on `reply`.
   * @returns an object whose `refund` reverts the charge; call it unless the passphrase was wrong.
   * @throws CoreError `rate_limited`.
   */
  charge(attempt: SignInAttempt, reply?: FastifyReply): { refund(): void };
}

/** Maximum guesses from one network, for all names together. An IPv6 /48 has `PREFIX_48_LIMIT_FACTOR` times as many. */
const PER_NETWORK = { amount: 10, seconds: 10 * 60 };
/** Maximum guesses for one name from all unknown browsers, which limits attacks from many networks. */
const PER_NAME = { amount: 60, seconds: 60 * 60 };
/** Maximum guesses in a browser in which the operator with that name has signed in before. */
const PER_DEVICE = { amount: 10, seconds: 10 * 60 };

/**
 * Limits guesses of passphrases; the counts are in memory, and no setting turns the limits off. Attackers can use up
 * the guesses for a name, but not those of the operator's known browsers. In a new browser, the operator waits or uses
 * `groundswell console invite`. Unknown names are counted as well, so a refusal does not reveal whether a name exists.
 */
export function createSignInLimits(monotonicMs: () => number): SignInLimits {
  const networks = createNetworkBuckets({ ...PER_NETWORK, now: monotonicMs });
  const names = createTokenBuckets({ ...PER_NAME, now: monotonicMs });
  const devices = createTokenBuckets({ ...PER_DEVICE, now: monotonicMs });

  function limitsOf({ name, address, knownDevice }: SignInAttempt): { buckets: TokenBuckets; key: string }[] {
    if (knownDevice !== undefined) return [{ buckets: devices, key: knownDevice }];
    return [...networks(address), { buckets: names, key: name }];
  }

  return {
    charge(attempt, reply) {
      const limits = limitsOf(attempt);
      const waitMs = Math.max(...limits.map(({ buckets, key }) => buckets.peek(key).waitMs));
      if (waitMs > 0) {
        const minutes = Math.ceil(waitMs / 60_000);
        reply?.header('Retry-After', Math.ceil(waitMs / 1_000));
        throw new CoreError(
          'rate_limited',
          `Too many attempts. Please try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
        );
      }
      for (const { buckets, key } of limits) buckets.take(key);
      return { refund: () => limits.forEach(({ buckets, key }) => void buckets.refund(key)) };
    },
  };
}
