import { randomBytes } from "node:crypto";
import type { Verdict } from "../domain/fault.ts";
import { CommandRefused, RETCODE } from "../domain/retcode.ts";
import type { TradeServer } from "../trade-server.ts";
import type { Command } from "./command.ts";
import { COMMANDS, type SessionCommand } from "./command-table.ts";
import type { Connection } from "./connection.ts";
import type { Params } from "./params.ts";
import { done, NO_CONTENT, plain, refusal, type Reply } from "./reply.ts";
import { CLOSED, finishHandshake, startHandshake } from "./session.ts";

const RANDOM_BYTES = 16;

/** Executes the call without interruption; a refusal has changed nothing. */
export function execute(run: () => Reply): Reply {
  try {
    return run();
  } catch (error) {
    if (error instanceof CommandRefused) return refusal(error.retcode);
    throw error;
  }
}

export function runCommand(server: TradeServer, name: string, params: Params, verdict: Verdict): Reply {
  const command = COMMANDS.get(name);
  if (command === undefined) return plain(404);
  if (!isAllowed(server, command)) return refusal(RETCODE.noPermission);
  return done(command.run(server, params, verdict));
}

function isAllowed({ settings }: TradeServer, { right }: Command): boolean {
  return settings.managerRights.has(right);
}

export function runSessionCommand(
  server: TradeServer,
  connection: Connection,
  name: SessionCommand,
  params: Params,
): Reply {
  switch (name) {
    case "auth/start":
      return start(server, connection, params);
    case "auth/answer":
      return finish(server, connection, params);
    case "test/access":
      return done();
    case "quit":
      connection.session = CLOSED;
      return done(NO_CONTENT, true);
  }
}

function start(server: TradeServer, connection: Connection, params: Params): Reply {
  connection.session = CLOSED;
  const fresh = { random: randomBytes(RANDOM_BYTES).toString("hex"), nowMs: server.nowMs() };
  const { session, siblings } = startHandshake(params, managerOf(server), fresh);
  connection.session = session;
  return done({ siblings });
}

function finish(server: TradeServer, connection: Connection, params: Params): Reply {
  const { session } = connection;
  connection.session = CLOSED;
  const siblings = finishHandshake(session, params, managerOf(server), server.nowMs());
  if (siblings === undefined) return plain(403);
  connection.session = { state: "authenticated" };
  return done({ siblings });
}

function managerOf(server: TradeServer): { readonly login: number; readonly password: string } {
  return { login: server.settings.managerLogin, password: server.managerPassword };
}
