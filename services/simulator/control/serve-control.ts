import Fastify, { type FastifyInstance } from "fastify";
import type { Log } from "#kernel/process/log.ts";
import { listenError } from "#kernel/process/startup-error.ts";
import type { TradeServer } from "../trade-server.ts";
import type { Connection } from "../webapi/connection.ts";
import {
  archiveAccount,
  changeRights,
  createAccount,
  deleteAccount,
  fixAccount,
  listAccounts,
  listDeals,
  moveAccount,
  moveBalance,
  restoreAccount,
  showAccount,
} from "./accounts.ts";
import { bookDeal, cancelDeal, compensateNegative, editDeal, removeDeal } from "./deals.ts";
import { addFault, endFaults, listFaults, removeFaults } from "./faults.ts";
import { listGroups, setGroup } from "./groups.ts";
import { changeManager } from "./manager.ts";
import { ControlProblem } from "./problem.ts";
import { restart } from "./restart.ts";
import { statsOf } from "./stats.ts";
import {
  bookResult,
  closePosition,
  closePositionBy,
  openPosition,
  reversePosition,
  setPrice,
  setSession,
} from "./trading.ts";

export type ControlOptions = {
  readonly server: TradeServer;
  readonly connections: ReadonlySet<Connection>;
  /** The control API needs no key: loopback, or an address that is published on loopback only. */
  readonly host: string;
  readonly port: number;
  readonly log: Log;
};

export type Control = AsyncDisposable & { readonly port: number };

const LOOPBACK_NAMES = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Bodies of the control API have a few fields. */
const MAX_BODY_BYTES = 64 * 1024;

export async function serveControl(options: ControlOptions): Promise<Control> {
  const app = Fastify({ bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true });
  acceptJson(app);
  answerProblems(app, options.log);
  refuseForeignPages(app);
  addRoutes(app, options);
  // As in the Web API, the answer follows when the change is on disk.
  app.addHook("preSerialization", async (_request, _reply, payload) => {
    await options.server.journal.settled();
    return payload;
  });
  try {
    await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    throw listenError("the simulator's control API (SIM_CONTROL_PORT)", options.host, options.port, error);
  }
  const address = app.server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : options.port,
    [Symbol.asyncDispose]: () => app.close(),
  };
}

function addRoutes(app: FastifyInstance, { server, connections }: ControlOptions): void {
  app.get("/control/accounts", () => listAccounts(server));
  app.get("/control/accounts/:id", ({ params }) => showAccount(server, idOf(params)));
  app.get("/control/accounts/:id/deals", ({ params }) => listDeals(server, idOf(params)));
  app.post("/control/accounts", ({ body }) => createAccount(server, body));
  app.post("/control/accounts/:id/rights", ({ params, body }) => changeRights(server, idOf(params), body));
  app.post("/control/accounts/:id/fix", ({ params }) => fixAccount(server, idOf(params)));
  app.post("/control/accounts/:id/archive", ({ params }) => archiveAccount(server, idOf(params)));
  app.post("/control/accounts/:id/restore", ({ params }) => restoreAccount(server, idOf(params)));
  app.post("/control/accounts/:id/group", ({ params, body }) => moveAccount(server, idOf(params), body));
  app.delete("/control/accounts/:id", ({ params }) => deleteAccount(server, idOf(params)));
  app.get("/control/groups", () => listGroups(server));
  app.post("/control/groups", ({ body }) => setGroup(server, body));
  app.post("/control/prices", ({ body }) => setPrice(server, body));
  app.post("/control/sessions", ({ body }) => setSession(server, body));
  app.post("/control/positions", ({ body }) => openPosition(server, body));
  app.post("/control/positions/:id/close", ({ params, body }) => closePosition(server, idOf(params), body ?? {}));
  app.post("/control/positions/:id/close-by", ({ params, body }) => closePositionBy(server, idOf(params), body ?? {}));
  app.post("/control/positions/:id/reverse", ({ params, body }) => reversePosition(server, idOf(params), body ?? {}));
  app.post("/control/compensations", ({ body }) => compensateNegative(server, body));
  app.post("/control/deals", ({ body }) => bookDeal(server, body));
  app.post("/control/deals/:id/edit", ({ params, body }) => editDeal(server, idOf(params), body ?? {}));
  app.post("/control/deals/:id/cancel", ({ params }) => cancelDeal(server, idOf(params)));
  app.delete("/control/deals/:id", ({ params }) => removeDeal(server, idOf(params)));
  app.post("/control/results", ({ body }) => bookResult(server, body));
  app.post("/control/balance", ({ body }) => moveBalance(server, body));
  app.get("/control/faults", () => listFaults(server));
  app.post("/control/faults", ({ body }) => addFault(server, body));
  app.delete("/control/faults", () => removeFaults(server));
  app.post("/control/faults/end", () => endFaults(server));
  app.post("/control/manager", ({ body }) => changeManager(server, body));
  app.post("/control/restart", ({ body }) => restart(server, connections, body ?? {}));
  app.get("/control/stats", () => statsOf(server, connections));
}

/** A missing content type, and the default of curl, count as JSON. */
function acceptJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => {
    if (text === "") return done(null, {});
    try {
      done(null, JSON.parse(String(text)));
    } catch {
      done(new ControlProblem("invalid_body", "the body is not JSON"));
    }
  });
}

function answerProblems(app: FastifyInstance, log: Log): void {
  app.setNotFoundHandler(() => {
    throw new ControlProblem("unknown_route", "there is no such call");
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (error instanceof ControlProblem) {
      const { status, code, message, errors } = error;
      return reply.status(status).send({ status, code, message, errors });
    }
    const status = error.statusCode ?? 500;
    if (status < 500) return reply.status(status).send({ status, code: "invalid_request", message: error.message });
    log.error("control request failed, problem returned", { error });
    return reply.status(500).send({ status: 500, code: "internal", message: "the call failed" });
  });
}

/** A web page in a browser on this machine can send requests here, but not without Origin and Host headers. */
function refuseForeignPages(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ headers }) => {
    const name = (headers.host ?? "").replace(/:\d+$/, "");
    if (headers.origin !== undefined || !LOOPBACK_NAMES.has(name)) {
      throw new ControlProblem("foreign_host", "only programs on this machine may call, by its loopback name");
    }
  });
}

/** A text that is no number is neither a login nor a position. */
function idOf(params: unknown): number {
  const { id } = params as { id: string };
  return /^\d{1,15}$/.test(id) ? Number(id) : 0;
}
