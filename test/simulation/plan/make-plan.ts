import { createRandom } from "../world/random.ts";
import { EXTERNAL_MS, INVESTORS, MASTERS, PAYMENT, makeCommands, makePoolCommands } from "./make-commands.ts";
import { makeDepartureFaults, makeFaults } from "./make-faults.ts";
import { makeMarketFaults, makeServerFaults } from "./make-server-faults.ts";
import type { Command, Mode, Plan } from "./plan.ts";

/** Shorter than in production, because every proof of absence waits for it; all other times are the real ones. */
const QUIET_PERIODS_MS = [20_000, 30_000, 45_000];
/** Fee weeks that end during the commands, once or several times; with real weeks, fees are taken only at withdrawals and leaves. */
const FEE_PERIODS_MS = [6_000, 15_000, 7 * 86_400_000];
/** The share of histories with pools, and of those in which the broker and the market set no rules. */
const POOLS = 0.26;
const PLAIN_POOLS = 0.2;
const MAX_SKEW_MS = 800;
/** The time within which all commands of a history begin. */
const BUSY_MS = { safety: 70_000, liveness: 14_000 };
/** Longer, because it takes some seconds until an Investor is in a pool. */
const POOL_BUSY_MS = { safety: 70_000, liveness: 20_000 };
const FAULTS_END_AFTER_MS = 2_000;
const MAX_COMMANDS = { safety: 16, liveness: 9 };
/** Additional commands in histories with pools: a fee needs several commands before it. */
const MORE_IN_POOLS = 3;

/** The plan of the history of a seed. */
export function makePlan(seed: number, mode: Mode): Plan {
  const random = createRandom(seed);
  const quietPeriodMs = random.pick(QUIET_PERIODS_MS);
  const drawn = random.for("pools").next();
  const hasPools = drawn < POOLS;
  const hasRules = hasPools && drawn >= PLAIN_POOLS;
  const fees = random.for("fees");
  const busyMs = (hasPools ? POOL_BUSY_MS : BUSY_MS)[mode];
  const count = random.for("count").whole(3, MAX_COMMANDS[mode]) + (hasPools ? MORE_IN_POOLS : 0);
  const skews = random.for("clocks");
  const processes = Array.from({ length: skews.chance(0.25) ? 3 : 2 }, () => ({
    skewMs: Math.round((skews.next() * 2 - 1) * MAX_SKEW_MS),
  }));
  const make = hasPools ? makePoolCommands : makeCommands;
  const context = { busyMs, quietPeriodMs, logins: [...MASTERS, ...INVESTORS], paymentLogin: PAYMENT };
  const faults = [
    ...makeFaults(random.for("faults"), context),
    ...makeServerFaults(random.for("server faults"), { ...context, hasPools }),
    ...(hasPools ? makeDepartureFaults(random.for("departures"), context) : []),
    ...(hasRules ? makeMarketFaults(random.for("market"), { busyMs, logins: MASTERS }) : []),
  ];
  const commands = make(random.for("commands"), count, busyMs);
  const rewoundAtMs = faults.flatMap((fault) => (fault.kind === "rewind_database" ? fault.atMs : []));
  return {
    seed,
    mode,
    quietPeriodMs,
    processes,
    pools: hasPools
      ? {
          feeProcesses: fees.chance(0.5) ? 2 : 1,
          feePeriodMs: fees.pick(FEE_PERIODS_MS),
          takesTrading: hasRules,
        }
      : undefined,
    consumers: !hasPools && random.for("followers").chance(0.2) ? ["pushed", "polled"] : ["pushed"],
    commands: rewoundAtMs.length > 0 ? commands.map(withDeadline) : commands,
    faults,
    faultsEndMs: mode === "safety" ? Infinity : Math.max(busyMs, ...rewoundAtMs) + FAULTS_END_AFTER_MS,
  };
}

/** Funding sends no deposit without one: an order that a rewound database still has as waiting is not sent after its client was refused. */
function withDeadline(command: Command): Command {
  const isOfClient = command.kind === "transfer" && ["deposit", "withdrawal"].includes(command.legs[0]?.kind ?? "");
  return isOfClient ? { ...command, sendWithinMs: command.sendWithinMs ?? EXTERNAL_MS } : command;
}
