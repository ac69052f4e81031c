/** The services that routes use, and the properties that hooks add to a request. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Schedule } from '#core/alarms/schedule.ts';
import type { AnsweringSystems } from '#core/channels/answers.ts';
import type { AnswerSources, ChannelService, DeliveryQueue } from '#core/channels/channels.ts';
import type { ReplyAddresses } from '#core/channels/reply-addresses.ts';
import type { Intake } from '#core/intake/intake.ts';
import type { MappingReader } from '#core/intake/mappings.ts';
import type { WebhookSignatures } from '#core/intake/webhook-signatures.ts';
import type { Limits } from '#core/limits/rate-limits.ts';
import type { Bus } from '#core/log/bus.ts';
import type { History } from '#core/log/log.ts';
import type { ReceiptStore } from '#core/log/receipts.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Statistics } from '#core/log/statistics.ts';
import type { Metrics } from '#core/observability/metrics.ts';
import type { Tracer } from '#core/observability/tracing.ts';
import type { CalendarReader } from '#core/on-call/on-call.ts';
import type { Policy, Principal } from '#core/people/access.ts';
import type { AccountStore, SignedInPerson } from '#core/people/accounts.ts';
import type { ActionLinks } from '#core/people/action-links.ts';
import type { InitialSetup } from '#core/people/secrets.ts';
import type { OwnAccount, SignIn } from '#core/people/sign-in.ts';
import type { UsageRecorder } from '#core/people/usage-recorder.ts';
import type { Explainer } from '#core/routing/explain.ts';
import type { Presence } from '#core/streams/presence.ts';
import type { TenantStreams } from '#core/streams/tenant-streams.ts';
import type { Directory } from '#core/tenants/directory.ts';
import type { Tenancy } from '#core/tenants/tenancy.ts';
import type { Rate, TenantBounds } from '#core/tenants/tenants.ts';
import type { BasicAccount } from './callers/sender-credential.ts';

export interface Services {
  readonly directory: Directory;
  readonly history: History;
  readonly receipts: ReceiptStore;
  readonly statistics: Statistics;
  readonly channels: ChannelService;
  readonly answering: AnsweringSystems;
  readonly deliveries: DeliveryQueue;
  readonly bus: Bus;
  readonly tenancy: Tenancy;
  readonly intake: Intake;
  readonly schedule: Schedule;
  readonly calendars: CalendarReader;
  readonly answerSources: AnswerSources;
  /** undefined: this installation takes no replies to mails. */
  readonly replies: ReplyAddresses | undefined;
  readonly tenantStreams: TenantStreams;
  readonly presence: Presence;
  readonly explainer: Explainer;
  readonly limits: Limits;
  readonly signatures: WebhookSignatures;
  readonly actionLinks: ActionLinks;
  readonly mappings: MappingReader;
  readonly metrics: Metrics;
  /** Undefined: nothing is traced. */
  readonly tracer: Tracer | undefined;
  readonly usage: UsageRecorder;
  /** Undefined: iPhones are not woken. */
  readonly ntfyUpstream:
    | { readBy(tenant: TenantId, panel: string, topic: string): Promise<void>; stop(): Promise<void> }
    | undefined;
  readonly accounts: AccountStore;
  readonly signIn: SignIn & OwnAccount;
  readonly setUp: InitialSetup;
  readonly storage: {
    /** Why intake does not work, as a sentence; undefined if it works. */
    problem(): string | undefined;
    queueDepth(): number;
    /** With SQLite: free bytes on the disk of the database; undefined when the system does not say. */
    readonly freeBytes?: () => number | undefined;
    /** On PostgreSQL: how far this node's clock is ahead of the database's. */
    readonly clockAheadMs?: () => number;
    /** On PostgreSQL: entries of the log that are not indexed for searches yet. */
    readonly indexBacklog?: () => number;
  };
  /** The text at an https URL, at most 64 KiB. @throws Error when there is none in time. */
  readonly fetchText: (url: string) => Promise<string>;
  readonly now: () => number;
  readonly version: string;
  /** The commit it was built from, if that is known. */
  readonly commit: string | undefined;
  readonly settings: HttpSettings;
}

interface HttpSettings {
  readonly rateToken: Rate | 'off';
  readonly rateTenant: Rate | 'off';
  /** The operator's upper bounds on the settings of tenants, and on how many tenants owners may create. */
  readonly bounds: TenantBounds & { readonly tenants: number | 'off' };
  /** Failed authentications of one source address. */
  readonly rateAuth: Rate | 'off';
  /** Requests of one credential or session, other than notifications. */
  readonly rateApi: Rate | 'off';
  /** The public URL of this server; undefined: it is derived from each request. */
  readonly baseUrl: string | undefined;
  /** Addresses and CIDR blocks of proxies whose forwarding headers are trusted. */
  readonly trustedProxies: readonly string[];
  /** Bearer token for /metrics; undefined: it is not served on this listener. */
  readonly metricsToken: string | undefined;
  /** Where the built pages are. */
  readonly webFolder: string;
  /** The documentation, as `npm start` built it. */
  readonly docsFolder: string;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Requests that take much time or memory. */
export type ExpensiveKind =
  | 'search'
  | 'count'
  | 'explain'
  | 'mapping preview'
  | 'rule order'
  | 'replay'
  | 'export'
  | 'calendar'
  | 'channel test'
  | 'panel stream'
  | 'phone messages'
  | 'history stream'
  | 'list';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call this route. A route without one does not build. */
    policy?: Policy;
    /**
     * Which rate limit holds: the route's own, none, or one for each panel that a credential acts for. Not given: one for
     * each credential or session.
     */
    rateLimit?: 'own' | 'none' | 'by panel' | undefined;
    /** Set when the token may also be sent as other software does: see sender-credential.ts. */
    senderCredential?: true | undefined;
    /** Set when a person may sign in with basic authentication instead: the handler does it, with `request.account`. */
    accountCredential?: true | undefined;
    /** Whether the token may be in the URL (`?token=`): every token, or those with the option `allowInUrl`. */
    urlToken?: 'of every token' | 'if allowed' | undefined;
    /** If set, one tenant may have only a few requests of this kind running at the same time. */
    expensive?: ExpensiveKind | undefined;
  }
  interface FastifyRequest {
    /** The caller; set on every route with a tenant's policy. */
    principal: Principal;
    /** The account with which a person signs in, instead of a principal; only on routes with `accountCredential`. */
    account: BasicAccount | undefined;
    /** The signed-in person; set on every route with the policy `person` or `proven`. */
    person: SignedInPerson;
    /** The connection's address, or the right-most untrusted one behind a trusted proxy; canonical. */
    sourceIp: string;
  }
}
