import type { FastifyInstance } from "fastify";
import { Gauge } from "prom-client";
import { succeedsWithin } from "#kernel/jobs/answer-within.ts";
import type { Clock } from "#kernel/values/clock.ts";
import { callContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { Refusal, type RefusalStatus } from "#kernel/values/refusal.ts";
import type { Services } from "./route.ts";

/** Sends one cheap query to a dependency; fails without an answer. */
export type Probe = () => Promise<unknown>;

export type Dependency = "account" | "funding" | "subscription" | "fee" | "platform";

export type ReadinessOptions = {
  readonly isBrokerConnected: () => boolean;
  readonly isDraining: () => boolean;
  readonly probes: Readonly<Record<Dependency, Probe>>;
  readonly now: Clock;
};

type Reached = { readonly reachable: boolean; readonly lag_ms: number | null };

export type ReadinessReport = {
  readonly status: "ready" | "degraded" | "starting" | "draining";
  readonly broker: { readonly reachable: boolean };
  readonly services: Readonly<Record<string, Reached>>;
  readonly platform: Reached;
  /** Slowest answer of a dependency; null while one does not answer. */
  readonly lag_ms: number | null;
};

export type Readiness = {
  /** Ready once the broker and all services were reached, with or without the trading platform; from then on until the stop signal. */
  readonly read: () => Promise<{ readonly isReady: boolean; readonly report: ReadinessReport }>;
};

let shown: Readiness | undefined;

/** Probed when Prometheus asks: a probe of the metrics port asks for nothing but database and broker. */
const dependencyReachable = new Gauge({
  name: "pamm_dependency_reachable",
  help: "1 when the edge reaches the dependency: broker, account, funding, subscription, fee or platform (MetaTrader).",
  labelNames: ["dependency"],
  collect: async () => {
    await shown?.read();
  },
});

/** The deadline of a probe: shorter than the period of a usual readiness probe. */
const PROBE_TIMEOUT_MS = 1_500;
/** Limits how often the dependencies are called, however often readiness is read. */
const FRESH_FOR_MS = 500;

export function createReadiness({ isBrokerConnected, isDraining, probes, now }: ReadinessOptions): Readiness {
  let hasReachedServices = false;
  let latest: { readonly at: number; readonly report: Promise<ReadinessReport> } | undefined;

  async function examine(): Promise<ReadinessReport> {
    const names = Object.keys(probes) as Dependency[];
    const answers = await Promise.all(names.map(async (name) => [name, await reach(probes[name], now)] as const));
    const { platform, ...services } = Object.fromEntries(answers) as Record<Dependency, Reached>;
    const broker = { reachable: isBrokerConnected() };
    const all = answers.map(([, reached]) => reached);
    const isComplete = broker.reachable && all.every(({ reachable }) => reachable);
    hasReachedServices ||= broker.reachable && Object.values(services).every(({ reachable }) => reachable);
    const status = isComplete ? "ready" : hasReachedServices ? "degraded" : "starting";
    for (const [name, { reachable }] of answers) dependencyReachable.set({ dependency: name }, reachable ? 1 : 0);
    dependencyReachable.set({ dependency: "broker" }, broker.reachable ? 1 : 0);
    const lag = isComplete ? Math.max(...all.map(({ lag_ms }) => lag_ms ?? 0)) : null;
    return { status, broker, services, platform, lag_ms: lag };
  }

  const readiness: Readiness = {
    async read() {
      const at = now().getTime();
      if (latest === undefined || at - latest.at > FRESH_FOR_MS) latest = { at, report: examine() };
      const report = await latest.report;
      if (isDraining()) return { isReady: false, report: { ...report, status: "draining" } };
      return { isReady: hasReachedServices, report };
    },
  };
  shown = readiness;
  return readiness;
}

async function reach(probe: Probe, now: Clock): Promise<Reached> {
  const begunAt = now().getTime();
  const reachable = await succeedsWithin(probe(), PROBE_TIMEOUT_MS);
  return { reachable, lag_ms: reachable ? now().getTime() - begunAt : null };
}

/** Ids that do not exist: "not found" proves that the service and its database answer. */
const NO_LOGIN = "1";
const NO_OPERATION = "00000000-0000-7000-8000-000000000000";

/** Refusals that do not prove that the service and its database were reached. */
const NOT_REACHED: ReadonlySet<RefusalStatus> = new Set(["unavailable", "unknown_outcome", "internal", "busy"]);

/** One cheap query per service that reaches its database, and one that reaches the trading platform. */
export function probesOf(services: Services): Record<Dependency, Probe> {
  const { accounts, funding, subscriptions, fees, platform } = services;
  return {
    account: probe((context) => accounts.findAccounts({ logins: [NO_LOGIN] }, context)),
    funding: probe((context) => funding.getOperation({ operationId: NO_OPERATION }, context)),
    subscription: probe((context) => subscriptions.countActiveInvestors({ masterLogins: [NO_LOGIN] }, context)),
    fee: probe((context) => fees.getConfiguration({ investorLogin: NO_LOGIN }, context)),
    platform: probe(async (context) => {
      const { reachable } = await platform.getStatus({}, context);
      if (!reachable) throw new Error("the platform cannot be reached");
    }),
  };
}

function probe(query: (context: CallContext) => Promise<unknown>): Probe {
  return async () => {
    try {
      await query(callContext({ caller: "edge", withinMs: PROBE_TIMEOUT_MS }));
    } catch (error) {
      if (!(error instanceof Refusal) || NOT_REACHED.has(error.status)) throw error;
    }
  };
}

/** Require no API key: a supervisor or load balancer reads them. */
export function serveHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get("/healthz", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const { isReady, report } = await readiness.read();
    return reply.code(isReady ? 200 : 503).send(report);
  });
}
