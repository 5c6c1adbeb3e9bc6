import { setTimeout as pause } from "node:timers/promises";
import { strike, type Verdict } from "../domain/fault.ts";
import { RETCODE } from "../domain/retcode.ts";
import type { TradeServer } from "../trade-server.ts";
import { commandAt, COMMANDS, SESSION_COMMANDS } from "./command-table.ts";
import type { Connection } from "./connection.ts";
import { execute, runCommand, runSessionCommand } from "./execute.ts";
import { namesOf, type Params, parseBody, parseQuery } from "./params.ts";
import { DROP, plain, refusal, type Reply } from "./reply.ts";

export type Call = {
  /** Path without its query. */
  readonly path: string;
  readonly query: string;
  readonly body: string;
};

export type CallContext = {
  readonly server: TradeServer;
  readonly connection: Connection;
  /** Aborted when the simulator stops: calls that a fault delays are then not executed. */
  readonly signal: AbortSignal;
};

/** Answers a call when every change that it read or made is on disk. */
export async function answerCall(context: CallContext, call: Call): Promise<Reply> {
  const { server, connection } = context;
  const name = commandAt(call.path);
  const isHandshake = name === "auth/start" || name === "auth/answer";
  if (!isHandshake && connection.session.state !== "authenticated") return plain(403);
  const session = SESSION_COMMANDS.find((known) => known === name);
  if (session === undefined && !COMMANDS.has(name)) return plain(404);

  server.calls.set(name, (server.calls.get(name) ?? 0) + 1);
  const params = paramsOf(call);
  const { faults, verdict } = strike(server.faults, name, params === undefined ? new Set() : namesOf(params));
  server.faults = faults;
  return underFaults(context, verdict, () => {
    if (params === undefined) return refusal(RETCODE.invalidParameters);
    return session === undefined
      ? runCommand(server, name, params, verdict)
      : runSessionCommand(server, connection, session, params);
  });
}

async function underFaults(context: CallContext, verdict: Verdict, run: () => Reply): Promise<Reply> {
  const { server } = context;
  const isExecuted = !verdict.dropBefore && verdict.instead === undefined;
  if (isExecuted && verdict.lateMs !== undefined) executeLater(context, verdict.lateMs, run);
  const reply = isExecuted && verdict.lateMs === undefined ? execute(run) : insteadOf(verdict);
  await server.journal.settled();
  if (verdict.delayMs > 0) await delay(context, verdict.delayMs);
  const isDropped = verdict.dropBefore || verdict.dropAfter || verdict.lateMs !== undefined;
  return isDropped ? DROP : reply;
}

function insteadOf({ instead }: Verdict): Reply {
  if (instead === undefined) return DROP;
  return "status" in instead ? plain(instead.status) : refusal(instead.retcode);
}

/** Continues when the connection closes, the faults change or the session ends. */
function executeLater(context: CallContext, afterMs: number, run: () => Reply): void {
  delay(context, afterMs).then(
    () => void execute(run),
    () => undefined,
  );
}

/** Shorter when the control API ends it. */
async function delay({ server, signal }: CallContext, ms: number): Promise<void> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  server.delayed.add(end);
  await Promise.race([pause(ms, undefined, { signal, ref: false }), ended]).finally(() => server.delayed.delete(end));
}

function paramsOf({ query: queryText, body: bodyText }: Call): Params | undefined {
  const query = parseQuery(queryText);
  const body = parseBody(bodyText);
  return query === undefined || body === undefined ? undefined : { query, body };
}
