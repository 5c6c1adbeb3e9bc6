import type { Verdict } from "../domain/fault.ts";
import type { ManagerRight } from "../settings.ts";
import type { TradeServer } from "../trade-server.ts";
import type { Params } from "./params.ts";
import type { Answer } from "./reply.ts";

/** A command. It runs without interruption, so no other command runs between its reads and its changes. */
export type Command = {
  readonly right: ManagerRight;
  readonly run: (server: TradeServer, params: Params, verdict: Verdict) => Answer;
};

export type Commands = Readonly<Record<string, Command>>;
