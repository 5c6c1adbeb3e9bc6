import { createWakeSignal } from "#kernel/jobs/wake-signal.ts";
import type { Deps, FreshDeals, GateState } from "./deps.ts";
import type { PermitGate } from "./domain/permit-gate.ts";
import { sendQueue } from "./protocol/send-queue.ts";
import { dispatcher } from "./protocol/dispatch.ts";
import { LoginSignals } from "./protocol/login-signals.ts";

type InProcess = "gate" | "inFlight" | "loginSignals" | "legsSignal" | "lostSignal" | "freshDeals";

/**
 * Adds the state of this process. Its loss costs latency, never money: the jobs find the same work in the database.
 */
export function withInProcessState(own: Omit<Deps, InProcess | "sending" | "dispatcher">): Deps {
  const deps = {
    ...own,
    gate: createGateState(own.sender.gate),
    inFlight: new Set<bigint>(),
    loginSignals: new LoginSignals(),
    legsSignal: createWakeSignal(),
    lostSignal: createWakeSignal(),
    freshDeals: createFreshDeals(),
  };
  const sender = { ...deps, sending: sendQueue(deps) };
  return { ...sender, dispatcher: dispatcher(sender) };
}

function createGateState(registered: PermitGate): GateState {
  const read = Promise.withResolvers<void>();
  let gate = registered;
  return {
    read: () => gate,
    note(found) {
      gate = found;
      if (gate !== "reading") read.resolve();
    },
    async untilRead(maxMs) {
      if (gate !== "reading") return;
      const timer = setTimeout(read.resolve, maxMs);
      await read.promise;
      clearTimeout(timer);
    },
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
