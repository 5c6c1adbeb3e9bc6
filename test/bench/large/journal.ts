import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Account, DEFAULT_LEVERAGE, DEFAULT_RIGHTS } from "../../../services/simulator/domain/account.ts";
import type { Change } from "../../../services/simulator/domain/change.ts";
import { DEAL_ACTION, type Deal, moneyDeal } from "../../../services/simulator/domain/deal.ts";
import { encodeChange } from "../../../services/simulator/store/change-codec.ts";
import { CAPITAL_MINOR, groupOf, type LargeRole, loginOf, resultOf, type Step } from "./sizes.ts";

/** Lines of one write. */
const LINES = 10_000;
/** Its deals are older than everything that is read again. */
const AGE_MS = 3 * 86_400_000;
/** A dealer other than the service. */
const DEALER = 1;
const FIRST_TICKET = 100_001;

/** Writes the accounts of all steps into the journal of a simulator that has not started yet, each with one deposit. */
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
  for (const step of steps) {
    const { number, outside, pools } = step;
    const group = (role: LargeRole): string => groupOf(role, number);
    for (const pool of pools) {
      let capital = 0;
      for (let investor = pool.first; investor <= pool.last; investor += 1) {
        const minor = balanceOf(investor, true);
        capital += minor;
        const login = Number(loginOf("investor", investor));
        yield* account({ login, group: group("investor"), minor, ticket, timeMsc });
        ticket += 1;
      }
      const master = Number(loginOf("master", pool.master));
      yield* account({ login: master, group: group("master"), minor: capital, ticket, timeMsc });
      ticket += 1;
      const payment = Number(loginOf("payment", pool.master));
      yield* account({ login: payment, group: group("payment"), minor: 0, ticket, timeMsc });
    }
    for (let investor = outside.first; investor <= outside.last; investor += 1) {
      const login = Number(loginOf("investor", investor));
      yield* account({ login, group: group("investor"), minor: balanceOf(investor, false), ticket, timeMsc });
      ticket += 1;
    }
  }
}

type Opening = {
  readonly login: number;
  readonly group: string;
  /** Cents. */
  readonly minor: number;
  readonly ticket: number;
  readonly timeMsc: number;
};

function* account(opening: Opening): Generator<Change> {
  yield { kind: "account", account: accountOf(opening) };
  if (opening.minor > 0) yield { kind: "deals", deals: [depositOf(opening)] };
}

function accountOf({ login, group, timeMsc }: Opening): Account {
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
    balance: 0n,
    credit: 0n,
  };
}

function depositOf({ login, minor, ticket, timeMsc }: Opening): Deal {
  const { balance: action } = DEAL_ACTION;
  const deal = moneyDeal({ login, dealer: DEALER, action, amount: BigInt(minor), comment: "Deposit" });
  return { ...deal, ticket, timeMsc, modificationFlags: 0 };
}
