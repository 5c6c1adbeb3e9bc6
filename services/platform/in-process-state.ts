import { createBell } from "#kernel/bell.ts";
import type { Deps, FreshDeals } from "./deps.ts";
import { Doorbell, LocalLine } from "./protocol/turn-queue.ts";

/** State that only this process has. Its loss costs latency, never money: the jobs find the same work in the database. */
export function inProcessState(): Pick<Deps, "inFlight" | "line" | "doorbell" | "operationsBell" | "freshDeals"> {
  return {
    inFlight: new Set(),
    line: new LocalLine(),
    doorbell: new Doorbell(),
    operationsBell: createBell(),
    freshDeals: createFreshDeals(),
  };
}

/** Forgetting a login costs nothing but time: the next round of the reader comes by. */
function createFreshDeals(): FreshDeals {
  const logins = new Set<string>();
  const bell = createBell();
  return {
    bell,
    add(login) {
      logins.add(login);
      bell.ring();
    },
    take() {
      const taken = [...logins];
      logins.clear();
      return taken;
    },
  };
}
