import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Account, DEFAULT_LEVERAGE, DEFAULT_RIGHTS } from "../../../services/simulator/domain/account.ts";
import type { Change } from "../../../services/simulator/domain/change.ts";
import { DEAL_ACTION, type Deal, moneyDeal } from "../../../services/simulator/domain/deal.ts";
import { encodeChange } from "../../../services/simulator/store/change-codec.ts";
import { CAPITAL_MINOR, groupOf, type LargeRole, loginOf, resultOf, type Step } from "./sizes.ts";

/** Lines of one write. */
const LINES = 10_000;
/** Their deals are older than everything that is read again. */
const AGE_MS = 3 * 86_400_000;
/** A dealer other than the service. */
const DEALER = 1;
const FIRST_TICKET = 100_001;

/**
 * Writes the accounts of all steps into the journal of a simulator that has not started yet. Those of Investors in no pool,
 * whose deals are compared with what callers were answered, have their balance by a deposit; the others have it without a deal.
 */
export function writeJournal(stateDir: string, steps: readonly Step[]): void {
  const folder = join(stateDir, "simulator");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = openSync(join(folder, "journal.log"), "w", 0o600);
  try {
    let lines: string[] = [];
    for (const change of changesOf(steps)) {
      if (lines.push(encodeChange(change)) < LINES) continue;
      writeSync(file, lines.join(""));
      lines = [];
    }
    writeSync(file, lines.join(""));
  } finally {
    closeSync(file);
  }
}

export function groupsOf(steps: readonly Step[]): string[] {
  const roles: LargeRole[] = ["investor", "master", "payment"];
  return steps.flatMap(({ number }) => roles.map((role) => groupOf(role, number)));
}

/** Cents on the account of an Investor: results are posted already. */
export function balanceOf(investor: number, isPooled: boolean): number {
  return isPooled ? CAPITAL_MINOR + resultOf(investor) : CAPITAL_MINOR;
}

function* changesOf(steps: readonly Step[]): Generator<Change> {
  const timeMsc = Date.now() - AGE_MS;
  let ticket = FIRST_TICKET;
  for (const { number, outside, pools } of steps) {
    const accountIn = (role: LargeRole, index: number, minor: number): Change => ({
      kind: "account",
      account: accountOf({ login: Number(loginOf(role, index)), group: groupOf(role, number), minor, timeMsc }),
    });
    for (const { master, first, last } of pools) {
      let capital = 0;
      for (let investor = first; investor <= last; investor += 1) {
        const minor = balanceOf(investor, true);
        capital += minor;
        yield accountIn("investor", investor, minor);
      }
      yield accountIn("master", master, capital);
      yield accountIn("payment", master, 0);
    }
    for (let investor = outside.first; investor <= outside.last; investor += 1) {
      const login = Number(loginOf("investor", investor));
      yield accountIn("investor", investor, 0);
      yield { kind: "deals", deals: [depositOf({ login, minor: balanceOf(investor, false), ticket, timeMsc })] };
      ticket += 1;
    }
  }
}

type Opening = {
  readonly login: number;
  readonly group: string;
  /** Cents. */
  readonly minor: number;
  readonly timeMsc: number;
};

function accountOf({ login, group, minor, timeMsc }: Opening): Account {
  const registeredAt = Math.floor(timeMsc / 1_000);
  return {
    login,
    group,
    rights: DEFAULT_RIGHTS,
    leverage: DEFAULT_LEVERAGE,
    registeredAt,
    passwordChangedAt: registeredAt,
    passwords: { main: "", investor: "" },
    texts: {},
    numbers: {},
    balance: BigInt(minor),
    credit: 0n,
  };
}

function depositOf({ login, minor, ticket, timeMsc }: Omit<Opening, "group"> & { readonly ticket: number }): Deal {
  const { balance: action } = DEAL_ACTION;
  const deal = moneyDeal({ login, dealer: DEALER, action, amount: BigInt(minor), comment: "Deposit" });
  return { ...deal, ticket, timeMsc, modificationFlags: 0 };
}
