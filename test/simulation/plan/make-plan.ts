import { createRandom } from "../world/random.ts";
import { INVESTORS, MASTERS, PAYMENT, makeCommands, makePoolCommands } from "./make-commands.ts";
import { makeFaults } from "./make-faults.ts";
import type { Mode, Plan } from "./plan.ts";

/** Short, because every proof of absence waits for it; everything else keeps its real times. */
const QUIET_PERIODS_MS = [20_000, 30_000, 45_000];
const LONGEST_SKEW_MS = 800;
const BUSY_MS = { safety: 70_000, liveness: 14_000 };
const CALM_MS = 16_000;
const MOST_COMMANDS = { safety: 16, liveness: 9 };

/** What is going to happen in the history of a seed. */
export function makePlan(seed: number, mode: Mode): Plan {
  const random = createRandom(seed);
  const busyMs = BUSY_MS[mode];
  const quietPeriodMs = random.pick(QUIET_PERIODS_MS);
  const hasPools = random.for("pools").chance(0.25);
  const count = random.for("count").whole(3, MOST_COMMANDS[mode]);
  const skews = random.for("clocks");
  const processes = Array.from({ length: skews.chance(0.25) ? 3 : 2 }, () => ({
    skewMs: Math.round((skews.next() * 2 - 1) * LONGEST_SKEW_MS),
  }));
  const make = hasPools ? makePoolCommands : makeCommands;
  const room = { busyMs, quietPeriodMs, logins: [...MASTERS, ...INVESTORS], paymentLogin: PAYMENT };
  return {
    seed,
    mode,
    quietPeriodMs,
    processes,
    hasPools,
    followers: !hasPools && random.for("followers").chance(0.2) ? ["pushed", "polled"] : ["pushed"],
    commands: make(random.for("commands"), count, busyMs),
    faults: makeFaults(random.for("faults"), room),
    calmFromMs: mode === "safety" ? Infinity : CALM_MS,
  };
}
