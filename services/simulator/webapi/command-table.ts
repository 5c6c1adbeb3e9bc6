import type { Command } from "./command.ts";
import { DEAL_COMMANDS } from "./commands/deal.ts";
import { GROUP_COMMANDS } from "./commands/group.ts";
import { MARKET_COMMANDS } from "./commands/market.ts";
import { POSITION_COMMANDS } from "./commands/position.ts";
import { TIME_COMMANDS } from "./commands/time.ts";
import { TRADE_COMMANDS } from "./commands/trade.ts";
import { USER_COMMANDS } from "./commands/user.ts";

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    ...USER_COMMANDS,
    ...GROUP_COMMANDS,
    ...TRADE_COMMANDS,
    ...DEAL_COMMANDS,
    ...POSITION_COMMANDS,
    ...MARKET_COMMANDS,
    ...TIME_COMMANDS,
  }),
);

/** Commands about the connection itself. */
export const SESSION_COMMANDS = ["auth/start", "auth/answer", "test/access", "quit"] as const;
export type SessionCommand = (typeof SESSION_COMMANDS)[number];

const PREFIX = "/api/";

/** Of `/api/user/get`; empty for a path of another form. */
export function commandAt(path: string): string {
  return path.startsWith(PREFIX) ? path.slice(PREFIX.length) : "";
}

export function isCommand(name: string): boolean {
  return COMMANDS.has(name) || SESSION_COMMANDS.some((known) => known === name);
}
