import { setTimeout as pause } from "node:timers/promises";
import type { Command, Leg } from "../plan/plan.ts";
import type { TradeServer } from "../world/trade-server.ts";
import { CALL_MS, type Caller, untilAllFinal, untilChainEnds, untilFinal } from "./caller.ts";
import { hold, release } from "./account-lock.ts";
import { withdrawFromPool } from "./withdraw-from-pool.ts";

type Kind<Name extends Command["kind"]> = Extract<Command, { readonly kind: Name }>;

const RETRY_MS = 400;
const MAX_RETRY_MS = 5_000;
const MAX_TRIES = 12;
/** Operators wait until permits are resumed. */
const MAX_REPEATED_TRIES = 40;
/** Refusals of an `assign` or `unassign` that may not apply later. */
const PASSING = new Set([
  "account_busy",
  "allocation_in_progress",
  "master_open_positions",
  "platform_unavailable",
  "safety_stop",
  "exit_in_progress",
]);
const DOUBLE_CLICK_MS = 200;
/** Kinds whose amounts services calculate from their books. */
const CALCULATED = new Set(["mirror", "exit", "result"]);

/** Performs one command of the plan. */
export async function performCommand(caller: Caller, server: TradeServer, command: Command): Promise<void> {
  switch (command.kind) {
    case "transfer": {
      await untilFinal(caller, {
        ...command,
        generation: generationOf(caller, command.legs[0]),
      });
      return;
    }
    case "batch":
      return untilAllFinal(
        caller,
        command.legs.map((leg, index) => {
          return { key: `${command.key}:${index}`, legs: [leg], generation: generationOf(caller, leg) };
        }),
      );
    case "withdrawal":
      return withdraw(caller, command);
    case "withdraw":
      return withdrawFromPool(caller, command);
    case "dealer":
      for (let click = 0; click < command.clicks; click += 1) {
        const { login, amountMinor } = command;
        server.addByHand(login, amountMinor === "everything" ? -(server.balanceOf(login) ?? 0n) : amountMinor);
        await pause(DOUBLE_CLICK_MS);
      }
      return;
    case "trade": {
      const position = server.openPosition(command.login);
      await pause(command.forMs);
      if (position !== undefined) server.closePosition(command.login, position, command.profitMinor);
      return;
    }
    case "assign":
    case "unassign":
      return assignOrUnassign(caller, command);
  }
}

/** The saga of a withdrawal: acquire the account lock, take the fee, pay out, and always release the account lock. */
async function withdraw(caller: Caller, command: Kind<"withdrawal">): Promise<void> {
  const { key, login, paymentLogin, feeMinor, payoutMinor } = command;
  const lockOwner = `${key}:1`;
  if (!(await hold(caller, login, lockOwner, payoutMinor))) return release(caller, login, lockOwner);
  await untilChainEnds(caller, [
    {
      key: `${key}:fee`,
      lockOwner,
      legs: [
        { login, kind: "fee_debit", amountMinor: -feeMinor },
        { login: paymentLogin, kind: "fee_credit", amountMinor: feeMinor },
      ],
    },
    { key, lockOwner, legs: [{ login, kind: "withdrawal", amountMinor: -payoutMinor }] },
  ]);
  await release(caller, login, lockOwner);
}

function queueOf({ queueForMs }: Kind<"unassign">) {
  return queueForMs === undefined ? {} : { queueForMs: BigInt(queueForMs) };
}

/** Repeats the command until it is answered, as the edge does for a waiting client, and operators do after a restore. */
async function assignOrUnassign(caller: Caller, command: Kind<"assign"> | Kind<"unassign">): Promise<void> {
  const { process, subscriptions, note, isRepeated } = caller;
  const { login, master } = command;
  const pair = { masterLogin: master, investorLogin: login };
  let { key } = command;
  const maxTries = isRepeated ? MAX_REPEATED_TRIES : MAX_TRIES;
  for (let tries = 0; tries < maxTries; tries += 1) {
    const outcome = await subscriptions.call(
      process,
      CALL_MS,
      async ({ service }, context) => {
        if (command.kind === "unassign") await service.unassign({ ...pair, ...queueOf(command) }, context);
        else await service.assign({ ...pair, feeRatePpm: command.feeRatePpm, feeEnabled: true }, context);
      },
      key,
    );
    note(
      () =>
        `${key}: ${command.kind} of ${login} ${outcome.kind} ${outcome.kind === "refused" ? outcome.refusal.code : ""}`,
    );
    if (outcome.kind === "answer") return;
    const isRefused = outcome.kind === "refused" && outcome.refusal.outcome === "not_executed";
    if (isRepeated && isRefused && !PASSING.has(outcome.refusal.code)) return;
    // The outcome of a key is final, and what has caused it may be over.
    if (isRepeated && isRefused) key = `${command.key}:${tries}`;
    await pause(Math.min(RETRY_MS * (tries + 1), MAX_RETRY_MS));
  }
}

function generationOf({ generation }: Caller, leg: Leg | undefined): bigint | undefined {
  return leg !== undefined && CALCULATED.has(leg.kind) ? generation : undefined;
}
