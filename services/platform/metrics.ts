import { Gauge } from "prom-client";

export const permitsOpen = new Gauge({
  name: "pamm_permits_open",
  help: "1 while commands may be sent to the trading platform, 0 while its history is being read or operators have to decide.",
});

export const platformClockDiffers = new Gauge({
  name: "pamm_platform_clock_differs",
  help: "1 while the clock of the trading platform is not in its zone, or differs from that of the database: no deal is read.",
});

const ofState = (name: string, help: string) => new Gauge({ name, help, labelNames: ["state"] });

const outcomes = ofState(
  "pamm_unknown_outcomes",
  "Legs whose permit is used and whose outcome is not known: SENDING while the answer is waited for, UNKNOWN when it was lost.",
);
const outcomeCents = ofState(
  "pamm_unknown_outcomes_cents",
  "Money at risk: sum of the absolute amounts of these legs, in cents.",
);
const outcomeSeconds = ofState(
  "pamm_unknown_outcomes_oldest_seconds",
  "Time since the first permit of the oldest of these legs; 0 without one.",
);

export const OUTCOME_STATES = ["SENDING", "UNKNOWN"] as const;

export type UnknownOutcomes = {
  readonly state: string;
  readonly count: number;
  readonly amountMinor: bigint;
  readonly oldestSeconds: number;
};

/** Every replica shows the state of the table. */
export function showUnknownOutcomes(read: readonly UnknownOutcomes[]): void {
  for (const state of OUTCOME_STATES) {
    const of = read.find((one) => one.state === state);
    outcomes.set({ state }, of?.count ?? 0);
    // Beyond 2^53 cents the loss of precision does not matter.
    outcomeCents.set({ state }, Number(of?.amountMinor ?? 0n));
    outcomeSeconds.set({ state }, of?.oldestSeconds ?? 0);
  }
}

const unshownAccounts = ofState(
  "pamm_accounts_not_shown",
  "Accounts without money that the trading platform does not show: archived by the broker, or not_shown while that is not confirmed.",
);

export function showUnshownAccounts({ archived, unconfirmed }: { archived: bigint; unconfirmed: bigint }): void {
  unshownAccounts.set({ state: "archived" }, Number(archived));
  unshownAccounts.set({ state: "not_shown" }, Number(unconfirmed));
}
