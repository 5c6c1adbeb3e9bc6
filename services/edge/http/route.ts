import { type Static, type TObject, type TProperties, type TSchema, Type } from "typebox";
import type { CallContext, Client } from "#kernel/contract/contract.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import type { Calendar } from "#kernel/values/time-zone.ts";
import type { AccountServiceService } from "#proto/pamm/account/v1/account.ts";
import type { IdempotencyKey } from "#proto/pamm/common/v1/idempotency_key.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { FundingServiceService } from "#proto/pamm/funding/v1/funding.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { ProblemCode } from "../problems/problems.ts";
import type { EventLog } from "../events/event-log.ts";
import type { Caller } from "../identity/keys/caller.ts";
import type { KeyDirectory } from "../identity/keys/key-directory.ts";
import type { RequiredScope, Scope } from "../wire/scopes.ts";
import type { Poll } from "./long-poll.ts";
import type { RequestOf } from "../fields/message.ts";
import type { Webhooks } from "../events/webhooks/webhooks.ts";
import type { Cursors } from "../wire/cursor.ts";
import type { CsvRow } from "../wire/csv.ts";
import type { Pages } from "../wire/json-array.ts";

/** The services that the routes call. A test passes plain objects. */
export type Services = {
  readonly accounts: Client<AccountServiceService>;
  readonly funding: Client<FundingServiceService>;
  readonly subscriptions: Client<SubscriptionServiceService>;
  readonly fees: Client<FeeServiceService>;
  readonly platform: Client<PlatformServiceService>;
};

export type Deps = Services & {
  readonly cursors: Cursors;
  readonly events: EventLog;
  readonly webhooks: Webhooks;
  readonly keys: KeyDirectory;
  /** The clock of the trade server; undefined when the operator has not named its zone. */
  readonly serverClock: (Calendar & { readonly zone: string }) | undefined;
  /** No real money is moved: webhooks may have plain HTTP and private addresses. */
  readonly isRehearsal: boolean;
};

/** A call on behalf of the key whose request it is. */
export type RouteContext = CallContext & {
  readonly client: {
    readonly id: string;
    readonly owner: string;
    readonly keyId: string;
    readonly rejectsDuplicates: boolean;
  };
  /** What the key of the request permits, and until when. */
  readonly key: Pick<Caller, "scopes" | "environment" | "expiresAt" | "isLimitedToAddresses">;
  /** Undefined for a request without one. */
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** Resolves when the audit has the vote, without which it counts as forged. The review is named as operators name it. */
  readonly auditVote: (vote: { readonly reviewId: string; readonly action: string }) => Promise<void>;
  /**
   * The operation that the answer is about. It is another one than that of the request when the edge had lost its key and the service has
   * found it: then answer, log and audit have its id, as of every repetition.
   */
  readonly reportOperation: (operationId: string) => void;
  readonly setHeader: (name: string, value: string) => void;
  /** For routes whose query has `wait`. */
  readonly poll: Poll;
};

/** Determines the time limit of a request, how many of its class run at once and the rate of a key. */
export type RouteClass = "read" | "money" | "create";

export const TAGS = [
  "Masters",
  "Investors",
  "Subscriptions",
  "Funds",
  "Operations",
  "Performance fees",
  "Reconciliation",
  "Reviews",
  "Events",
  "Webhooks",
  "API keys",
] as const;
export type Tag = (typeof TAGS)[number];

type OwnHeader = "X-Possible-Duplicate-Of" | "X-Held-Back" | "X-Retroactive-Since";

export type Shape = TSchema & { readonly properties: TProperties; readonly required?: readonly string[] | undefined };
type None = Record<never, never>;

/** Of a route with these fields in its path, query and body. */
export type Input<P extends TProperties, Q extends TProperties, B extends TProperties> = {
  readonly params: Static<TObject<P>>;
  readonly query: Static<TObject<Q>>;
  readonly body: Static<TObject<B>>;
  /** The message that path, query and body become together. */
  readonly request: RequestOf<P> & RequestOf<Q> & RequestOf<B>;
};

/** Rows of comma-separated values, read page by page while the caller receives them. */
type CsvFile<I> = {
  readonly rows: (deps: Deps, input: I, contextOfPage: () => CallContext) => Pages<CsvRow>;
  readonly name: (input: I, deps: Deps) => string;
  /** As in the documentation. */
  readonly example: string;
};

type Method = "GET" | "POST" | "PATCH" | "DELETE";
/** How a route is reached, such as `GET /api/v1/whoami`. A field of the path is written as `:login`. */
export type Address = `${Method} /api/v1/${string}`;

/** What the list of all routes says of one. */
type Listed = {
  /** Name of the operation in generated clients. */
  readonly operationId: string;
  /** Section of the documentation. */
  readonly tag: Tag;
};

type Facts = {
  readonly scope: RequiredScope;
  /** Other scopes that are sufficient as well. */
  readonly orScopes?: readonly Scope[];
  /** `money` of a command, `read` of everything else, unless the route names another one. */
  readonly class?: RouteClass;
  readonly summary: string;
  readonly description: string;
  /** What the answer of status 200 is, in one sentence. */
  readonly returns: string;
  /** The parameters are in the query; a JSON body may add to them. */
  readonly hasOptionalBody?: boolean;
  /** Refusals of its own, beside those that any route may answer. */
  readonly refusals?: readonly ProblemCode[];
  /** Headers of its own in the answer, beside those that any answer may have. */
  readonly headers?: readonly OwnHeader[];
  /** How the caller of a command that the ledger of operations does not have finds out what became of it. A sentence. */
  readonly lookUp?: string;
  /** It has a body or a long query, so it is no GET, and yet it is no command: nothing is recorded of it. */
  readonly changesNothing?: true;
  /** Every call, allowed or not, is audited before its response is sent. */
  readonly revealsSecrets?: boolean;
};

/** What a route says of itself. */
export type Declared<P extends TProperties, Q extends TProperties, B extends TProperties> = Facts & {
  /** The fields of the path, the query and the body. */
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The answer as a file, for callers who ask for `text/csv`. */
  readonly file?: CsvFile<Input<P, Q, None>>;
};

/** The answer of a command that is recorded and executed later, with status 202. */
export class Accepted<T> {
  readonly body: T;
  constructor(body: T) {
    this.body = body;
  }
}

type Answers<I, R extends Shape, A extends Shape> = {
  readonly reply: R;
  /** The answer of status 202, of a command that may be executed later. */
  readonly accepted?: { readonly reply: A; readonly returns: string };
  /** Checks between fields that no schema can express. */
  readonly check?: (input: I, deps: Deps) => readonly FieldError[];
};
type Handle<I, Answer> = (deps: Deps, input: I, context: RouteContext) => Promise<Answer>;
type ObjectRoute<
  P extends TProperties,
  Q extends TProperties,
  B extends TProperties,
  R extends Shape,
  A extends Shape,
> = Declared<P, Q, B> &
  Answers<Input<P, Q, B>, R, A> &
  (
    | { readonly handle: Handle<Input<P, Q, B>, Static<R> | Accepted<Static<A>>> }
    /** The message of the request goes to a service, and its answer is that of the route. */
    | { readonly call: Handle<Input<P, Q, B>["request"], AnsweredBy<R>> }
  );

export type AnsweredBy<R> = R extends { readonly of: (message: infer Message) => unknown } ? Message : never;

/** Each page is read when the caller has received the one before. */
type ReadPages<I, Item> = (deps: Deps, input: I, contextOfPage: () => CallContext, poll: Poll) => Pages<Item>;

type AnyInput = Input<TProperties, TProperties, TProperties>;

/** A route without its types, for the registration. */
export type Route = Listed &
  Required<Pick<Facts, "class" | "refusals">> &
  Facts & {
    readonly method: Method;
    readonly url: `/api/v1/${string}`;
    readonly params?: Shape;
    readonly query?: Shape;
    readonly body?: Shape;
    readonly file?: CsvFile<AnyInput>;
  } & (
    | (Answers<AnyInput, Shape, Shape> & { readonly kind: "object"; readonly handle: Handle<AnyInput, unknown> })
    | { readonly kind: "list"; readonly item: TSchema; readonly pages: ReadPages<AnyInput, unknown> }
  );

/** A route to which the list of all routes gives its name. */
export type Unnamed = (listed: Listed) => Route;

export function isCommand({ method, changesNothing }: Pick<Route, "method" | "changesNothing">): boolean {
  return method !== "GET" && changesNothing !== true;
}

/** The types are needed only where a route is written; the registration treats all routes alike. */
function registration(address: Address, spec: Declared<TProperties, TProperties, TProperties>) {
  const { params, query, body, ...facts } = spec;
  const [method, url] = address.split(" ") as [Method, Route["url"]];
  return {
    class: isCommand({ method, ...facts }) ? "money" : "read",
    refusals: [],
    ...facts,
    method,
    url,
    ...(params && { params: Type.Object(params) }),
    ...(query && { query: Type.Object(query) }),
    ...(body && { body: Type.Object(body) }),
  };
}

/** A route that answers one object. */
export function route<
  R extends Shape,
  P extends TProperties = None,
  Q extends TProperties = None,
  B extends TProperties = None,
  A extends Shape = never,
>(address: Address, spec: ObjectRoute<P, Q, B, R, A>): Unnamed {
  const handle = "call" in spec ? answering(spec.call as unknown as Call, spec.reply as unknown as Reply) : spec.handle;
  const registered = registration(address, spec as never);
  return (listed) => ({ ...listed, ...registered, handle, kind: "object" }) as unknown as Route;
}

type Call = Handle<object, object>;
type Reply = { readonly of: (message: object) => unknown };

function answering(call: Call, { of }: Reply): Handle<AnyInput, unknown> {
  return async (deps, { request }, context) => of(await call(deps, request, context));
}

/** A route that answers an array of any length, written while it is read. */
export function listRoute<
  I extends TSchema,
  P extends TProperties = None,
  Q extends TProperties = None,
  B extends TProperties = None,
>(
  address: Address,
  spec: Declared<P, Q, B> & { readonly item: I; readonly pages: ReadPages<Input<P, Q, B>, Static<I>> },
): Unnamed {
  const registered = registration(address, spec as never);
  return (listed) => ({ ...listed, ...registered, kind: "list" }) as unknown as Route;
}
