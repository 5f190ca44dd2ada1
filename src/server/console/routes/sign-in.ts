import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
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
import type { ConsoleOptions } from '../console-options.ts';
import type { ConsoleCookies } from '../cookies.ts';
import { createSignInLimits } from '../sign-in-limits.ts';

type Options = Pick<ConsoleOptions, 'database' | 'runtime' | 'siteName' | 'siteLogo' | 'streams'> & {
  cookies: ConsoleCookies;
};

/** Signing in and out, and invitations. */
export const signInRoutes: FastifyPluginAsyncTypebox<Options> = async (
  app,
  { database, runtime, siteName, siteLogo, streams, cookies },
) => {
  const limits = createSignInLimits(runtime.monotonicMs);
  const site = { siteName, ...(siteLogo !== undefined && { siteLogo }) };
  const response = { 200: ConsoleSessionSchema };

  function welcome(reply: FastifyReply, { operator, sessionToken, deviceToken }: SignedIn): ConsoleSession {
    cookies.setSession(reply, sessionToken);
    if (deviceToken !== undefined) cookies.setDevice(reply, deviceToken);
    return { operator, ...site };
  }

  app.get('/api/console/session', { schema: { response } }, async ({ operator }) => ({ operator, ...site }));

  app.post(
    '/api/console/sign-in',
    { config: { isOpenToAll: true }, schema: { body: SignInSchema, response } },
    async (request, reply) => {
      const { name, passphrase } = request.body;
      const deviceToken = cookies.deviceOf(request);
      const isKnown = await isKnownDevice(database, name, deviceToken);
      const charged = limits.charge({ name, address: request.ip, knownDevice: isKnown ? deviceToken : undefined });
      try {
        const before = cookies.sessionOf(request);
        const signedIn = await signIn(database, { name, passphrase, deviceToken, before, now: runtime.now() });
        charged.giveBack();
        request.log.info({ operator: name, ...requestIdsOf(request) }, 'An operator signed in to the console');
        return welcome(reply, signedIn);
      } catch (error) {
        // Never log the name, which may be a passphrase in the wrong field.
        if (error instanceof CoreError && error.code === 'sign_in_failed')
          request.log.warn(requestIdsOf(request), 'A sign-in to the console failed');
        else charged.giveBack();
        throw error;
      }
    },
  );

  app.post(
    '/api/console/invitation',
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
    '/api/console/invitation/accept',
    { config: { isOpenToAll: true }, schema: { body: AcceptInvitationSchema, response } },
    async (request, reply) => welcome(reply, await acceptInvitation(database, { ...request.body, now: runtime.now() })),
  );

  app.post('/api/console/sign-out', { config: { isOpenToAll: true } }, async (request, reply) => {
    await endSession(database, cookies.sessionOf(request));
    cookies.clearSession(reply);
    void streams.endSignedOut();
    return reply.code(204).send();
  });

  app.post('/api/console/sign-out-everywhere', async (request, reply) => {
    await endSessionsOf(database, request.operator);
    cookies.clearSession(reply);
    void streams.endSignedOut();
    return reply.code(204).send();
  });
};
