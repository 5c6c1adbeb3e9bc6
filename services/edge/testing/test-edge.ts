import type { FastifyInstance, InjectOptions } from "fastify";
import { DAY_MS } from "#kernel/duration.ts";
import { createLog, type Log } from "#kernel/log.ts";
import { calendarOf } from "#kernel/time-zone.ts";
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

export type TestOptions = Answers & {
  readonly app?: Partial<AppOptions>;
  readonly scopes?: readonly Scope[];
  /** Of the trade server; empty when the operator has named none. */
  readonly timeZone?: string;
};

/** The real edge with plain objects instead of the other services. */
export async function testEdge(options: TestOptions = {}): Promise<TestEdge> {
  const { timeZone: zone = "Europe/Athens" } = options;
  const lines: string[] = [];
  const audited: AuditEntry[] = [];
  const calls: Call[] = [];
  const app = await buildApp({
    routes: ROUTES,
    deps: {
      accounts: fake(options.accounts, calls),
      funding: fake(options.funding, calls),
      subscriptions: fake(options.subscriptions, calls),
      fees: fake(options.fees, calls),
      platform: fake(options.platform, calls),
      events: { read: async () => NO_EVENTS, look: () => {}, ...options.events },
      webhooks: fake(options.webhooks, calls),
      keys: fake(options.keys, calls),
      serverClock: zone === "" ? undefined : { zone, ...calendarOf(zone) },
      isRehearsal: false,
      cursors: cursorsOf(Buffer.from("a key for the cursors of tests")),
    },
    authenticate: async (key) => (key === TEST_KEY ? aCaller(options.scopes) : undefined),
    limits: { read: LIMITS, money: LIMITS, create: LIMITS } satisfies Record<RouteClass, typeof LIMITS>,
    audit: { write: async (entry) => void audited.push(entry), note: (entry) => void audited.push(entry) },
    idempotency: NO_KEYS,
    readiness: { read: async () => ({ isReady: true, report: READY }) },
    isDraining: () => false,
    log: logTo(lines),
    ...options.app,
  });
  await app.ready();
  return { app, audited, lines, calls, call: (request) => inject(app, request) };
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
function fake<T extends object>(some: Partial<T> | undefined, calls: Call[]): T {
  return new Proxy({ ...some } as T, {
    get(target, name) {
      const method = Reflect.get(target, name) as ((request: unknown, context: CallContext) => unknown) | undefined;
      if (method === undefined) return () => Promise.reject(new Error(`unexpected call of ${String(name)}`));
      return (request: unknown, context: CallContext) => {
        calls.push({ method: String(name), request, context });
        return method(request, context);
      };
    },
  });
}

/** Field and code of every validation error of an answer. */
export function errorsOf({ body }: Answer): string[][] {
  const { errors = [] } = body as { errors?: { field: string; code: string; message: string }[] };
  return errors.map(({ field, code }) => [field, code]);
}
