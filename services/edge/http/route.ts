import type { Static, TProperties, TSchema } from "typebox";
import type { CallContext, Client } from "#kernel/contract/contract.ts";
import type { FieldError } from "#kernel/refusal.ts";
import type { Calendar } from "#kernel/time-zone.ts";
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

type OwnHeader = "X-Possible-Duplicate-Of" | "X-Held-Back" | "X-Retroactive-Since";

export type Shape = TSchema & { readonly properties: TProperties; readonly required?: readonly string[] | undefined };
/** A part of the request that a route may lack. */
export type Part = Shape | undefined;
type ValueOf<S extends Part> = S extends Shape ? Static<S> : Record<never, never>;
type MessageOf<S extends Part> = S extends Shape ? RequestOf<S["properties"]> : Record<never, never>;

export type Input<P extends Part, Q extends Part, B extends Part> = {
  readonly params: ValueOf<P>;
  readonly query: ValueOf<Q>;
  readonly body: ValueOf<B>;
  /** The message that path, query and body become together. */
  readonly request: MessageOf<P> & MessageOf<Q> & MessageOf<B>;
};

/** Rows of comma-separated values, read page by page while the caller receives them. */
type CsvFile<P extends Part, Q extends Part> = {
  readonly rows: (deps: Deps, input: Input<P, Q, undefined>, contextOfPage: () => CallContext) => Pages<CsvRow>;
  readonly name: (input: Input<P, Q, undefined>, deps: Deps) => string;
  /** As in the documentation. */
  readonly example: string;
};

export type Facts<P extends Part, Q extends Part, B> = {
  /** Name of the operation in generated clients: a verb and a noun. */
  readonly operationId: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly url: `/api/v1/${string}`;
  readonly scope: RequiredScope;
  /** Other scopes that are sufficient as well. */
  readonly orScopes?: readonly Scope[];
  readonly class: RouteClass;
  readonly tag: (typeof TAGS)[number];
  readonly summary: string;
  readonly description: string;
  /** What the answer of status 200 is, in one sentence. */
  readonly returns: string;
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  /** The parameters are in the query; a JSON body may add to them. */
  readonly hasOptionalBody?: boolean;
  /** Refusals of its own, beside those that any route may answer. */
  readonly refusals: readonly ProblemCode[];
  /** Headers of its own in the answer, beside those that any answer may have. */
  readonly headers?: readonly OwnHeader[];
  /** How the caller of a command that the ledger of operations does not have finds out what became of it. A sentence. */
  readonly lookUp?: string;
  /** The answer as a file, for callers who ask for `text/csv`. */
  readonly file?: CsvFile<P, Q>;
  /** It has a body or a long query, so it is no GET, and yet it is no command: nothing is recorded of it. */
  readonly changesNothing?: true;
  /** Every call, allowed or not, is audited before its response is sent. */
  readonly revealsSecrets?: boolean;
};

/** The answer of a command that is recorded and executed later, with status 202. */
export class Accepted<T> {
  readonly body: T;
  constructor(body: T) {
    this.body = body;
  }
}

type ObjectFacts<P extends Part, Q extends Part, B extends Part, R extends Shape, A extends Shape> = Facts<P, Q, B> & {
  readonly reply: R;
  /** The answer of status 202, of a command that may be executed later. */
  readonly accepted?: { readonly reply: A; readonly returns: string };
  /** Checks between fields that no schema can express. */
  readonly check?: (input: Input<P, Q, B>, deps: Deps) => readonly FieldError[];
};
type Handle<I, Answer> = (deps: Deps, input: I, context: RouteContext) => Promise<Answer>;
type ObjectRoute<P extends Part, Q extends Part, B extends Part, R extends Shape, A extends Shape> = ObjectFacts<
  P,
  Q,
  B,
  R,
  A
> &
  (
    | { readonly handle: Handle<Input<P, Q, B>, Static<R> | Accepted<Static<A>>> }
    /** The message of the request goes to a service, and its answer is that of the route. */
    | { readonly call: Handle<Input<P, Q, B>["request"], AnsweredBy<R>> }
  );

export type AnsweredBy<R> = R extends { readonly of: (message: infer Message) => unknown } ? Message : never;

type ListRoute<P extends Part, Q extends Part, B extends Part, I extends TSchema> = Facts<P, Q, B> & {
  readonly item: I;
  /** Each page is read when the caller has received the one before. */
  readonly pages: (deps: Deps, input: Input<P, Q, B>, contextOfPage: () => CallContext, poll: Poll) => Pages<Static<I>>;
};

type AnyInput = Input<Shape, Shape, Shape>;

/** A route without its types, for the registration. */
export type Route =
  | (ObjectFacts<Shape, Shape, Shape, Shape, Shape> & {
      readonly kind: "object";
      readonly handle: Handle<AnyInput, unknown>;
    })
  | (ListRoute<Shape, Shape, Shape, TSchema> & { readonly kind: "list" });

export function isCommand({ method, changesNothing }: Pick<Route, "method" | "changesNothing">): boolean {
  return method !== "GET" && changesNothing !== true;
}

/** A route that answers one object. */
export function route<
  R extends Shape,
  P extends Part = undefined,
  Q extends Part = undefined,
  B extends Part = undefined,
  A extends Shape = never,
>(spec: ObjectRoute<P, Q, B, R, A>): Route {
  const handle = "call" in spec ? answering(spec.call as unknown as Call, spec.reply as unknown as Reply) : spec.handle;
  // The types are needed only where the route is written; the registration treats all routes alike.
  return { ...spec, handle, kind: "object" } as unknown as Route;
}

type Call = Handle<object, object>;
type Reply = { readonly of: (message: object) => unknown };

function answering(call: Call, { of }: Reply): Handle<AnyInput, unknown> {
  return async (deps, { request }, context) => of(await call(deps, request, context));
}

/** A route that answers an array of any length, written while it is read. */
export function listRoute<
  I extends TSchema,
  P extends Part = undefined,
  Q extends Part = undefined,
  B extends Part = undefined,
>(spec: ListRoute<P, Q, B, I>): Route {
  return { ...spec, kind: "list" } as unknown as Route;
}
