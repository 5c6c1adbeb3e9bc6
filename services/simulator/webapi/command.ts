import type { Verdict } from "../domain/fault.ts";
import type { ManagerRight } from "../settings.ts";
import type { TradeServer } from "../trade-server.ts";
import type { Params } from "./params.ts";
import type { Answer } from "./reply.ts";

/** One command. It runs in one go, so nothing comes between what it reads and what it changes. */
export type Command = {
  readonly right: ManagerRight;
  readonly run: (server: TradeServer, params: Params, verdict: Verdict) => Answer;
};

export type Commands = Readonly<Record<string, Command>>;
