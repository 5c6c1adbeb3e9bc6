import { createWakeSignal } from "#kernel/wake-signal.ts";
import type { Deps, FreshDeals } from "./deps.ts";
import { LoginSignals, LocalQueue } from "./protocol/turn-queue.ts";

/** State of this process only. Its loss costs latency, never money: the jobs find the same work in the database. */
export function inProcessState(): Pick<
  Deps,
  "inFlight" | "queue" | "loginSignals" | "legsSignal" | "lostSignal" | "freshDeals"
> {
  return {
    inFlight: new Set(),
    queue: new LocalQueue(),
    loginSignals: new LoginSignals(),
    legsSignal: createWakeSignal(),
    lostSignal: createWakeSignal(),
    freshDeals: createFreshDeals(),
  };
}

/** After a crash, the next run of the reader reads the logins that were in memory here. */
function createFreshDeals(): FreshDeals {
  const logins = new Set<string>();
  const wakeSignal = createWakeSignal();
  return {
    wakeSignal,
    add(login) {
      logins.add(login);
      wakeSignal.notify();
    },
    take() {
      const taken = [...logins];
      logins.clear();
      return taken;
    },
  };
}
