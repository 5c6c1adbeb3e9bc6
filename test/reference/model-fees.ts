import { decideDebts, decideDue, type Due as RealDue } from "../../services/fee/domain/due.ts";
import { earn, type Earnings, NOTHING_EARNED } from "../../services/fee/domain/layers.ts";
import type { Debt } from "../../services/fee/domain/debt.ts";
import { type FeeVersion, firstVersion, nextVersion } from "../../services/fee/domain/version.ts";
import { dollars } from "./engine/cents.ts";
import type { FeeCommand } from "./engine/configuration.ts";
import { compare, type Fraction, fraction, show } from "./engine/fraction.ts";
import {
  accountOf,
  type Due,
  type DueItem,
  type FeeEvent,
  type Investor,
  type Master,
  type World,
} from "./engine/world.ts";

/** The functions under test; a mutant replaces one of them. */
export type FeesUnderTest = {
  readonly earn: typeof earn;
  readonly decideDue: typeof decideDue;
  readonly decideDebts: typeof decideDebts;
  readonly nextVersion: typeof nextVersion;
};

export const REAL_FEES: FeesUnderTest = { earn, decideDue, decideDebts, nextVersion };

type Payer = { versions: FeeVersion[]; debts: Debt[]; readonly earnings: Map<Master, Earnings> };

const E8_PER_CENT = 1_000_000n;

/** Computes the fees of all Investors with the code under test, from the same allocations. Throws when any amount differs. */
export function modelFees(tested: FeesUnderTest = REAL_FEES): World["onFeeEvent"] {
  const payers = new Map<Investor, Payer>();
  const payerOf = (investor: Investor): Payer => {
    const payer = payers.get(investor) ?? { versions: [], debts: [], earnings: new Map() };
    payers.set(investor, payer);
    return payer;
  };
  return (event: FeeEvent) => {
    const payer = payerOf(event.investor);
    switch (event.kind) {
      case "configured":
        payer.versions = [...payer.versions, versionOf(tested, payer.versions.at(-1), event.command)];
        break;
      case "earned": {
        const part = { amount: event.cents, earnedAt: new Date(event.at) };
        const before = payer.earnings.get(event.master) ?? NOTHING_EARNED;
        payer.earnings.set(event.master, tested.earn(before, [part]));
        break;
      }
      case "crystallised":
        expectDue(event.investor, decide(tested, payer, event), event.due);
        break;
      case "collected":
        payer.debts = debtsAfter(payer.debts, event.item, event);
    }
    if (event.kind !== "configured" && event.kind !== "collected" && event.master !== undefined) {
      expectSame(event.investor, payer.earnings.get(event.master) ?? NOTHING_EARNED, event.master);
    }
  };
}

function versionOf(
  { nextVersion: next }: FeesUnderTest,
  newest: FeeVersion | undefined,
  command: FeeCommand,
): FeeVersion {
  const { at, ratePpm, enabled, since } = command;
  const change = {
    ratePpm: ratePpm === undefined ? undefined : Number(ratePpm),
    enabled,
    effectiveSince: since === undefined ? undefined : new Date(since),
  };
  if (newest !== undefined) return next(newest, change, new Date(at));
  return firstVersion({ ...change, ratePpm: Number(ratePpm) }, new Date(at));
}

function decide(
  tested: FeesUnderTest,
  payer: Payer,
  event: Extract<FeeEvent, { kind: "crystallised" }>,
): readonly RealDue[] {
  const at = new Date(event.due.at);
  const { master } = event;
  const { versions, debts } = payer;
  if (master === undefined) return tested.decideDebts({ versions, debts, at });
  const earnings = payer.earnings.get(master) ?? NOTHING_EARNED;
  const floating = event.due.floatingE8;
  const masterLogin = master.name;
  const decided = tested.decideDue({ masterLogin, earnings, versions, debts, floating, markedAt: undefined, at });
  payer.earnings.set(master, decided.earnings);
  return decided.due;
}

function debtsAfter(debts: readonly Debt[], item: DueItem, { cents, at }: { cents: bigint; at: number }): Debt[] {
  const unpaid = item.cents - cents;
  const masterLogin = item.master.name;
  const others = debts.filter((debt) => debt.masterLogin !== masterLogin);
  const before = debts.find((debt) => debt.masterLogin === masterLogin);
  const amount = item.suffix === "DEBT" ? unpaid : (before?.amount ?? 0n) + unpaid;
  return amount === 0n ? others : [...others, { masterLogin, amount, since: before?.since ?? new Date(at) }];
}

function expectDue(investor: Investor, real: readonly RealDue[], due: Due): void {
  const shown = real.map(({ kind, masterLogin, amount }) => `${kind} ${masterLogin} ${dollars(amount)}`).join(", ");
  const exact = due.items
    .map(({ suffix, master, cents }) => `${suffix === "DEBT" ? "PF_DEBT" : "PF"} ${master.name} ${dollars(cents)}`)
    .join(", ");
  if (shown !== exact) {
    throw new Error(`${investor.name} owes ${shown || "nothing"}, and ${exact || "nothing"} by the reference`);
  }
}

function expectSame(investor: Investor, real: Earnings, master: Master): void {
  const { gained, highWaterMark, layers } = accountOf(master, investor);
  const name = `${investor.name} at ${master.name}`;
  if (real.earned !== gained) throw new Error(`${name} earned ${dollars(real.earned)}, not ${dollars(gained)}`);
  expectEqual(`high-water mark of ${name}`, fraction(real.mark, E8_PER_CENT), highWaterMark);
  const amounts = [real.layers.map(({ amount }) => fraction(amount, E8_PER_CENT)), layers.map(({ amount }) => amount)];
  const [shown, exact] = amounts.map((each) => each.map(show).join(" "));
  if (shown !== exact) throw new Error(`layers of ${name} are ${shown}, not ${exact}`);
}

function expectEqual(what: string, shown: Fraction, exact: Fraction): void {
  if (compare(shown, exact) !== 0) throw new Error(`${what} is ${show(shown)}, not ${show(exact)}`);
}
