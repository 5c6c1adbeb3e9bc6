/** What the load generator is asked to send, and what it reports. Both cross a process boundary. */

/** A request that is sent again and again. `{n}` in the path becomes a comment that no other request has. */
export type RequestTemplate = {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** The account whose money moves; empty for a read. */
  readonly login: string;
  /** Requested signed change of the balance in cents; 0 for a read. */
  readonly minor: number;
};

export type Endpoint = {
  readonly host: string;
  /** Of one server or of several replicas; callers use them in turn. */
  readonly ports: readonly number[];
  /** Added to each request. */
  readonly headers: Readonly<Record<string, string>>;
};

/**
 * Closed: so many callers, each sends the next request when its last one was answered; finds the capacity. Open: requests
 * at fixed instants, whether or not earlier ones were answered, and a latency counts from the instant at which its request
 * was due; finds the latency at a given load.
 */
export type Shape =
  | { readonly kind: "closed"; readonly callers: number }
  | { readonly kind: "open"; readonly perSecond: number }
  /** Every request once, so many at the same time. */
  | { readonly kind: "once"; readonly callers: number };

export type Job = {
  readonly endpoint: Endpoint;
  /** Sent in turn, from the first on. */
  readonly requests: readonly RequestTemplate[];
  readonly shape: Shape;
  /** Not measured. */
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Begins each comment; different for every job. */
  readonly comment: string;
  /** Requests carry an Idempotency-Key, and one that was not answered 2xx is sent once more after its Retry-After. */
  readonly repeats: boolean;
};

/** A request and its answer. */
export type Outcome = {
  readonly login: string;
  readonly minor: number;
  readonly comment: string;
  /** 0: no answer arrived. */
  readonly status: number;
  /** The status of the first of two tries; undefined when there was one only. */
  readonly firstStatus: number | undefined;
  /** Ticket of the deal in the answer; empty without one. */
  readonly dealId: string;
  /** Whether the answer says that nothing was executed. */
  readonly isDenied: boolean;
  /** When it was to be sent and when it was answered, after the start of the job. */
  readonly dueAtMs: number;
  readonly atMs: number;
  readonly latencyMs: number;
};

/** What one job measured; `outcomes` also has the requests of the warm-up. */
export type Load = {
  readonly outcomes: readonly Outcome[];
  /** Milliseconds, of the requests that were answered 2xx: in the measured time, or, of an open load, due in it. */
  readonly latencies: readonly number[];
  readonly answered: number;
  /** Answers other than 2xx and lost ones, in the measured time, by status. */
  readonly failures: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Processor seconds of the generator itself in the measured time. */
  readonly ownSeconds: number;
};

export type FromGenerator =
  | { readonly kind: "measuring" }
  | { readonly kind: "measured" }
  | { readonly kind: "done"; readonly load: Load };
