import { AsyncLocalStorage } from "node:async_hooks";
import type { FastifyInstance, InjectOptions } from "fastify";
import { DAY_MS } from "#kernel/values/duration.ts";
import { createLog, type Log } from "#kernel/process/log.ts";
import { calendarOf } from "#kernel/values/time-zone.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { type AppOptions, buildApp } from "../app.ts";
import type { AuditEntry } from "../identity/audit/audit.ts";
import type { Caller } from "../identity/keys/caller.ts";
import type { IdempotencyStore } from "../http/idempotency/idempotency-store.ts";
import type { Answers } from "../api/exchange.ts";
import { ROUTES } from "../api/routes.ts";
import type { RouteClass } from "../http/route.ts";
import { SCOPES, type Scope } from "../wire/scopes.ts";
import { cursorsOf } from "../wire/cursor.ts";

export const TEST_KEY = "a-key-with-every-scope";

export type TestEdge = {
  /** Serves other edges too, unless it has options of its own. */
  readonly app: FastifyInstance;
  readonly audited: AuditEntry[];
  /** Every line that was logged, as text. */
  readonly lines: string[];
  /** The calls that the services received, in order. */
  readonly calls: Call[];
  readonly call: (options: InjectOptions) => Promise<Answer>;
};

export type Call = { readonly method: string; readonly request: unknown; readonly context: CallContext };

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly body: unknown;
};

type AppOptionsOfTests = Partial<AppOptions> & {
  /** Of the trade server; empty when the operator has named none. */
  readonly timeZone?: string;
};

/** What the services answer, and what the key may do. */
export type EdgeAnswers = Answers & { readonly scopes?: readonly Scope[] };
export type TestOptions = EdgeAnswers & { readonly app?: AppOptionsOfTests };

/** An edge that answers like this: one app serves many, because it is dear to build. */
export type EdgeOf = (answers: EdgeAnswers) => TestEdge;

let shared: Promise<EdgeOf> | undefined;

/** The real edge with plain objects instead of the other services. */
export async function testEdge({ app, ...answers }: TestOptions = {}): Promise<TestEdge> {
  const edgeOf = await (app === undefined ? (shared ??= testApp()) : testApp(app));
  return edgeOf(answers);
}

type Recorded = Pick<TestEdge, "audited" | "lines" | "calls"> & { readonly answers: EdgeAnswers };

export async function testApp({
  timeZone: zone = "Europe/Athens",
  ...options
}: AppOptionsOfTests = {}): Promise<EdgeOf> {
  const ofRequest = new AsyncLocalStorage<Recorded>();
  const whileBuilt: Recorded = { answers: {}, audited: [], lines: [], calls: [] };
  let newest = whileBuilt;
  // What is received on a socket is for the newest one.
  const current = (): Recorded => ofRequest.getStore() ?? newest;
  const app = await buildApp({
    routes: ROUTES,
    deps: {
      accounts: fake("accounts", current),
      funding: fake("funding", current),
      subscriptions: fake("subscriptions", current),
      fees: fake("fees", current),
      platform: fake("platform", current),
      events: {
        read: async (filter) => (await current().answers.events?.read?.(filter)) ?? NO_EVENTS,
        look: () => current().answers.events?.look?.(),
      },
      webhooks: fake("webhooks", current),
      keys: fake("keys", current),
      serverClock: zone === "" ? undefined : { zone, ...calendarOf(zone) },
      isRehearsal: false,
      cursors: cursorsOf(Buffer.from("a key for the cursors of tests")),
    },
    authenticate: async (key) => (key === TEST_KEY ? aCaller(current().answers.scopes) : undefined),
    limits: { read: LIMITS, money: LIMITS, create: LIMITS } satisfies Record<RouteClass, typeof LIMITS>,
    audit: {
      write: async (entry) => void current().audited.push(entry),
      note: (entry) => void current().audited.push(entry),
    },
    idempotency: NO_KEYS,
    readiness: { read: async () => ({ isReady: true, report: READY }) },
    isDraining: () => false,
    log: createLog({ service: "edge", level: "debug", to: { write: (line) => void current().lines.push(line) } }),
    ...options,
  });
  await app.ready();
  return (answers) => {
    const own: Recorded = { answers, audited: [], lines: [...whileBuilt.lines], calls: [] };
    newest = own;
    return { ...own, app, call: (request) => ofRequest.run(own, () => inject(app, request)) };
  };
}

const NO_EVENTS = { events: [], removedThrough: 0n, through: 0n, issuedThrough: 0n, hasMore: false };

/** So high that only tests with limits of their own reach one. */
const LIMITS = { rate: { perSecond: 1_000_000, burst: 1_000_000 }, inProgress: 1_000 };

/** Tests that send an Idempotency-Key provide a store with a database. */
const NO_KEYS: IdempotencyStore = {
  keptMs: 30 * DAY_MS,
  claim: () => Promise.reject(new Error("unexpected Idempotency-Key")),
  execute: (_claim, work) => work(),
};

const READY = {
  status: "ready",
  broker: { reachable: true },
  services: {},
  platform: { reachable: true, lag_ms: 1 },
  lag_ms: 1,
} as const;

export function aCaller(scopes: readonly Scope[] = SCOPES): Caller {
  return {
    keyId: "KeyOfTests01",
    clientId: "KeyOfTests01",
    client: "tests",
    scopes: new Set(scopes),
    environment: "test",
    expiresAt: null,
    isLimitedToAddresses: false,
    rejectsDuplicates: false,
  };
}

export function logTo(lines: string[]): Log {
  return createLog({ service: "edge", level: "debug", to: { write: (line: string) => void lines.push(line) } });
}

async function inject(app: FastifyInstance, options: InjectOptions): Promise<Answer> {
  const headers = { authorization: `Bearer ${TEST_KEY}`, ...options.headers };
  const response = await app.inject({ ...options, headers });
  const isJson = String(response.headers["content-type"]).includes("json");
  return {
    status: response.statusCode,
    headers: response.headers,
    text: response.body,
    body: isJson && response.body !== "" ? JSON.parse(response.body) : response.body,
  };
}

/** A method that a test does not provide must not be called. */
function fake<T extends object>(service: keyof Answers, current: () => Recorded): T {
  return new Proxy({} as T, {
    get: (_, name) => (request: unknown, context: CallContext) => {
      const { answers, calls } = current();
      const method = Reflect.get(answers[service] ?? {}, name) as Method | undefined;
      if (method === undefined) return Promise.reject(new Error(`unexpected call of ${String(name)}`));
      calls.push({ method: String(name), request, context });
      return method(request, context);
    },
  });
}

type Method = (request: unknown, context: CallContext) => unknown;

/** Field and code of every validation error of an answer. */
export function errorsOf({ body }: Answer): string[][] {
  const { errors = [] } = body as { errors?: { field: string; code: string; message: string }[] };
  return errors.map(({ field, code }) => [field, code]);
}
