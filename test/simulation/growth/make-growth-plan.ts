import { INVESTORS, MASTERS } from "../plan/make-commands.ts";
import type { Command, Plan } from "../plan/plan.ts";

/** A simulated week: long enough for its trades, its fees and the flows of its customers. */
export const WEEK_MS = 12_000;
/** One Investor pays nothing: its profit is never crystallised. */
const RATES_PPM = [333_333, 0, 200_000];
/** With more profit than loss. */
const RESULTS = [500n, -115n, 435n, 700n, -500n];
const FIRST_TRADE_MS = 1_500;
const BETWEEN_TRADES_MS = 1_700;

/** The same commands in every week, without faults: only the history becomes longer. */
export function makeGrowthPlan(weeks: number): Plan {
  const assigned = INVESTORS.map((login, index) => {
    const master = MASTERS[index === 2 ? 1 : 0]!;
    return {
      kind: "assign",
      atMs: index,
      key: `assign-${index}`,
      login,
      master,
      feeRatePpm: RATES_PPM[index]!,
    } as const;
  });
  return {
    seed: 1,
    mode: "liveness",
    quietPeriodMs: 20_000,
    processes: [{ skewMs: 0 }],
    pools: { feeProcesses: 1, feePeriodMs: WEEK_MS },
    consumers: ["pushed"],
    commands: [...assigned, ...Array.from({ length: weeks }, (_, week) => commandsOf(week)).flat()],
    faults: [],
    faultsEndMs: weeks * WEEK_MS,
  };
}

function commandsOf(week: number): readonly Command[] {
  const atMs = week * WEEK_MS + FIRST_TRADE_MS;
  const trades = RESULTS.map((profitMinor, index) => {
    const login = MASTERS[index === 3 ? 1 : 0]!;
    return { kind: "trade", atMs: atMs + index * BETWEEN_TRADES_MS, login, forMs: 300, profitMinor } as const;
  });
  const [login] = INVESTORS;
  return [
    ...trades,
    {
      kind: "transfer",
      atMs: atMs + 900,
      key: `deposit-${week}`,
      legs: [{ login: login!, kind: "deposit", amountMinor: 500n }],
      isEnqueued: false,
      floorMinor: undefined,
      sendWithinMs: undefined,
    },
    {
      kind: "withdraw",
      atMs: atMs + 2_600,
      key: `withdraw-${week}`,
      login: login!,
      amountMinor: 500n,
      queueForMs: undefined,
    },
  ];
}
