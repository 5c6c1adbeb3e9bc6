import type { FastifyInstance } from "fastify";
import type { StaticDecode } from "typebox";
import { createBell } from "#kernel/bell.ts";
import { systemClock } from "#kernel/clock.ts";
import { runJob } from "#kernel/job.ts";
import type { Log } from "#kernel/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import { listenError } from "#kernel/startup-error.ts";
import { buildApp } from "./app.ts";
import { createAudit } from "./audit/audit.ts";
import type { settings } from "./config.ts";
import { forgetOldKeys } from "./idempotency/prune-keys.ts";
import { createGiveOnce } from "./idempotency/idempotency-store.ts";
import { createKeyRing } from "./keys/key-ring.ts";
import { deriveKey, pepperOf } from "./keys/pepper.ts";
import type { Readiness } from "./readiness.ts";
import type { RouteClass, Services } from "./route.ts";
import { insertAuditEntries } from "./store/access-audit.ts";
import { cursorsOf } from "./wire/cursor.ts";
import type { ClassLimits } from "./admission.ts";

export type EdgeSettings = StaticDecode<typeof settings>;

/** Plain NATS; a message that is lost costs the time until the next look. */
export const KEYS_CHANGED = "edge.v1.keys.changed";

export type EdgeOptions = {
  readonly config: EdgeSettings;
  readonly pool: Pool;
  readonly services: Services;
  readonly readiness: Readiness;
  readonly log: Log;
  /** Calls back whenever somebody has announced that keys changed. */
  readonly onKeysChanged: (callback: () => void) => void;
};

export type Edge = { readonly app: FastifyInstance; readonly url: string };

const LOOK_FOR_KEYS_EVERY_MS = 5_000;
const FORGET_EVERY_MS = 60 * 60 * 1_000;
const BURST_SECONDS = 2;

/** Everything of the edge that is not a connection to somebody else. What it opens is adopted by the stack. */
export async function startEdge(stack: AsyncDisposableStack, options: EdgeOptions): Promise<Edge> {
  const { config, pool, log } = options;
  const keys = createKeyRing({
    pool,
    pepper: pepperOf(config.PAMM_API_KEY_PEPPER),
    oldPepper: config.PAMM_API_KEY_PEPPER_OLD && pepperOf(config.PAMM_API_KEY_PEPPER_OLD),
    bootstrapKey: config.PAMM_BOOTSTRAP_API_KEY,
    now: systemClock,
  });
  await keys.refresh();
  const wake = createBell();
  options.onKeysChanged(wake.ring);
  const look = async (): Promise<boolean> => keys.refresh().then(() => false);
  stack.use(runJob({ name: "read api keys", everyMs: LOOK_FOR_KEYS_EVERY_MS, wake, work: look, log }));
  const audit = stack.use(createAudit((entries) => insertAuditEntries(pool, entries), log));
  const forget = () => forgetOldKeys(pool, systemClock);
  stack.use(runJob({ name: "forget old idempotency keys", everyMs: FORGET_EVERY_MS, work: forget, log }));
  const cursors = cursorsOf(deriveKey(config.PAMM_API_KEY_PEPPER, "cursors"));
  const app = await buildApp({
    deps: { ...options.services, cursors },
    authenticate: keys.authenticate,
    limits: limitsOf(config),
    audit,
    giveOnce: createGiveOnce(pool, { now: systemClock, log }),
    readiness: options.readiness,
    log,
    trustProxy: config.PAMM_TRUSTED_PROXIES,
  });
  // Before the audit and the database on the way out: what is being answered still needs them.
  stack.defer(() => app.close());
  return { app, url: await listen(app, config) };
}

async function listen(app: FastifyInstance, config: EdgeSettings): Promise<string> {
  const { PAMM_HTTP_HOST: host, PAMM_HTTP_PORT: port } = config;
  try {
    return await app.listen({ host, port });
  } catch (error) {
    throw listenError("the HTTP interface (PAMM_HTTP_PORT)", host, port, error);
  }
}

function limitsOf(config: EdgeSettings): Record<RouteClass, ClassLimits> {
  const of = (perSecond: number, inProgress: number): ClassLimits => ({
    rate: { perSecond, burst: perSecond * BURST_SECONDS },
    inProgress,
  });
  return {
    read: of(config.PAMM_RATE_READ, config.PAMM_CONCURRENT_READ),
    money: of(config.PAMM_RATE_MONEY, config.PAMM_CONCURRENT_MONEY),
    create: of(config.PAMM_RATE_CREATE, config.PAMM_CONCURRENT_CREATE),
  };
}
