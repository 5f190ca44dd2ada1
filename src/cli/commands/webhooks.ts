import { randomUUID } from 'node:crypto';
import { Command } from 'commander';
import { formatQuantity, utcMinute } from '../../contract/text.ts';
import type { WebhookEvent } from '../../contract/webhooks/schema.ts';
import { readDatabaseTime } from '../../core/database/clock.ts';
import { listEvents, receiverOf, retryEvents } from '../../core/webhooks/outbox.ts';
import { sendEvent } from '../../core/webhooks/send-event.ts';
import { readSettings, type Settings } from '../../settings/settings.ts';
import { jsonOption, limitOption, UsageError } from '../arguments.ts';
import { print, printJson } from '../terminal/output.ts';
import { printTable } from '../terminal/table.ts';
import { withDatabase } from '../with-database.ts';

export function webhooksCommand(): Command {
  return new Command('webhooks')
    .description('list webhook events, retry them, and test the receiver')
    .addCommand(listCommand())
    .addCommand(retryCommand())
    .addCommand(testCommand());
}

interface ListFlags {
  limit: number;
  undelivered?: boolean;
  json?: boolean;
}

function listCommand(): Command {
  return new Command('list')
    .description('list the webhooks of the last seven days, newest first')
    .option('--undelivered', 'only waiting and expired webhooks')
    .addOption(limitOption(50))
    .addOption(
      jsonOption(
        '{ "events": [{ "id": …, "type": …, "createdAt": …, "state": "waiting", "attempts": 1, "lastFailure": …, "nextAttemptAt": … }] }',
      ),
    )
    .action(async ({ limit, undelivered = false, json = false }: ListFlags) => {
      const events = await withDatabase(({ database }) =>
        listEvents(database, { limit, undeliveredOnly: undelivered }),
      );
      if (json) return printJson({ events });
      if (events.length === 0) return print('No webhooks match.');
      printTable(
        [
          { title: 'AT (UTC)', style: 'dim' },
          { title: 'TYPE', style: 'green' },
          { title: 'STATE' },
          { title: 'FAILED' },
          { title: 'LAST FAILURE' },
        ],
        events.map(({ createdAt, type, state, attempts, lastFailure }) => [
          utcMinute(createdAt),
          type,
          state,
          `${attempts}`,
          lastFailure ?? '',
        ]),
      );
    });
}

function retryCommand(): Command {
  return new Command('retry')
    .description('retry undelivered webhooks, including expired ones, and resume deliveries that 410 Gone stopped')
    .addOption(jsonOption('{ "events": 3 }'))
    .action(async ({ json = false }: { json?: boolean }) => {
      const receiver = readReceiver();
      const events = await withDatabase(async ({ database }) =>
        retryEvents(database, receiverOf(receiver), await readDatabaseTime(database)),
      );
      if (json) return printJson({ events });
      print(`Queued ${formatQuantity(events, 'webhook')}. The site sends them while it runs.`);
    });
}

function testCommand(): Command {
  return new Command('test')
    .description('send a signed webhook.test event; exit code 1 if the receiver does not accept it')
    .addOption(jsonOption('{ "status": 204 }'))
    .action(async ({ json = false }: { json?: boolean }) => {
      const receiver = readReceiver();
      const now = new Date();
      const event: WebhookEvent = { type: 'webhook.test', timestamp: now.toISOString(), data: {} };
      const attempt = await sendEvent(receiver, { id: randomUUID(), body: JSON.stringify(event) }, { now });
      if (attempt.outcome !== 'delivered') throw new Error(`the receiver did not accept the test: ${attempt.failure}`);
      if (json) return printJson({ status: attempt.status });
      print(`The receiver accepted the test with status ${attempt.status}.`);
    });
}

/** Returns the settings of the receiver. @throws UsageError if no receiver is configured. */
function readReceiver(): NonNullable<Settings['webhooks']> {
  const { webhooks } = readSettings(process.env);
  if (webhooks === undefined)
    throw new UsageError('No webhook receiver is configured. Set WEBHOOK_URL and WEBHOOK_SECRET.');
  return webhooks;
}
