import { Type } from 'typebox';
import { SenderPayload } from '#contract/integrations/integration.ts';
import { limits } from '#contract/limits.ts';
import { type Answered, type SystemAnswer, takeAnswer } from '#core/channels/answers.ts';
import type { ChannelRecord } from '#core/channels/channels.ts';
import { AppError } from '#core/errors.ts';
import { textProblem } from '#core/intake/notification.ts';
import type { Rate } from '#core/tenants/tenants.ts';
import { networkOf } from '../callers/forwarded.ts';
import { takeFrom } from '../callers/rate-limits.ts';
import { problems, route } from '../openapi/route-schemas.ts';
import type { App, Services } from '../services.ts';

/** All answers from one address: a system has few of them, and sends what it has to say about many alarms at once. */
const answerRate: Rate = { perSecond: 20, burst: 300 };
const isId = (text: string) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text);

/** The same for a channel that does not exist: nobody learns which do. */
const refusal = () =>
  new AppError('not-found', 'the signature is not valid, or no channel takes answers at this address');

/** What people do about alarms in PagerDuty, Slack and Telegram. */
export function answerRoutes(app: App, services: Services): void {
  const { limits: limiters, now } = services;
  const rate = { name: 'answers', rate: answerRate, limiter: limiters.approximate('answers') };
  void app.register(async (scope) => {
    // Signatures are of the bytes that came.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post(
      '/api/answers/:tenant/:channel',
      {
        ...route('public', {
          tags: ['channels'],
          summary: 'What somebody has done about an alarm in PagerDuty, Slack or Telegram',
          description:
            'The system signs it with the secret of the channel: `webhookSecret` or `signingSecret`. A repeat changes nothing. See docs/channels.md.',
          params: Type.Object({
            tenant: Type.String({ description: 'The name of the tenant.' }),
            channel: Type.String({ description: 'The id of the channel.' }),
          }),
          body: SenderPayload,
          response: {
            200: Type.Object({}, { additionalProperties: true, description: 'For the system.' }),
            ...problems(404),
          },
          rateLimit: 'own',
          bodyLimit: limits.bodyBytes,
        }),
        validatorCompiler: () => () => true,
      },
      async ({ sourceIp, params, headers, body }) => {
        await takeFrom(rate, networkOf(sourceIp), now());
        const sent = { headers, body: Buffer.isBuffer(body) ? body : Buffer.alloc(0) };
        const channel = await findChannel(services, params as AnswerPath);
        const read = channel && services.answering.readAnswer(channel, sent);
        if (!read) throw refusal();
        return take(services, channel, read, sent);
      },
    );
  });
}

interface AnswerPath {
  readonly tenant: string;
  readonly channel: string;
}

async function findChannel({ directory }: Services, path: AnswerPath): Promise<ChannelRecord | undefined> {
  if (!isId(path.channel) || textProblem(path.tenant)) return undefined;
  const tenant = await directory.tenants.findByName(path.tenant);
  return tenant && directory.channels.find(tenant.id, path.channel);
}

async function take(
  services: Services,
  addressed: ChannelRecord,
  first: SystemAnswer,
  sent: Parameters<Services['answering']['readAnswer']>[1],
): Promise<object> {
  const { answering, directory } = services;
  const isOther = first.channel !== undefined && first.channel !== addressed.id;
  const channel = isOther ? await directory.channels.find(addressed.tenant, first.channel ?? '') : addressed;
  // Of the same app, so it has the same secret.
  const read = channel && (isOther ? answering.readAnswer(channel, sent) : first);
  let outcome: Answered = 'not-found';
  if (channel && read?.answer) outcome = await takeAnswer(services, channel, read.answer);
  // The system waits for the answer, and not for its message.
  if (channel && read) void answering.showAnswer(channel, read, outcome);
  return answering.replyTo(first, outcome);
}
