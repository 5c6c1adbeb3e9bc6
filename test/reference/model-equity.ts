import { decideLeave } from "../../services/subscription/domain/decide-leave.ts";
import { linesAfter } from "../../services/platform/domain/statement.ts";
import { dollars } from "./engine/cents.ts";
import { isEnabledAt } from "./engine/configuration.ts";
import { pendingFee } from "./engine/fee.ts";
import { ZERO } from "./engine/fraction.ts";
import { accountOf, activeOf, type Investor, type World } from "./engine/world.ts";

const EVERYTHING = 10n ** 15n;
const BEFORE_THE_OPENING = { number: -1n, balance: 0n };

/** Throws when the statement, the share of what floats, or what is free to withdraw differs from the reference. */
export function expectOwned(world: World): void {
  for (const investor of world.investors) {
    const entries = investor.journal.map(({ cents }, index) => ({ number: BigInt(index), amount: cents }));
    const { closing } = linesAfter(BEFORE_THE_OPENING, entries, (entry) => entry);
    expectEqual(`closing balance of ${investor.name}`, closing.balance, investor.balance);

    const holding = activeOf(world, investor);
    // Compares the code under test with the reference.
    holding?.master.pool.floating(holding.id, holding.master.floating);
    const pending = pendingOf(world, investor);
    const { before, available } = decideLeave(
      {
        kind: "WITHDRAWAL",
        requested: EVERYTHING,
        held: investor.balance,
        unposted: investor.unposted,
        quarantined: 0n,
        reserved: 0n,
        pooled: holding?.master.pool.cash(holding.id).pooled ?? 0n,
        due: [{ key: "fee", amount: pending, isWeekly: false }],
      },
      "payout",
    ).numbers;
    const owned = notBelowZero(investor.balance + investor.unposted);
    expectEqual(`balance before a withdrawal of ${investor.name}`, before, owned);
    expectEqual(`free balance of ${investor.name}`, available, notBelowZero(owned - pending));
  }
}

/** Debts and the fee of a flat Master. */
export function pendingOf(world: World, investor: Investor, floating = ZERO): bigint {
  const { configuration, owed } = investor;
  if (!isEnabledAt(configuration, world.now)) return 0n;
  const debts = [...owed.values()].reduce((sum, cents) => sum + cents, 0n);
  const holding = activeOf(world, investor);
  if (holding === undefined) return debts;
  return debts + pendingFee(accountOf(holding.master, investor), configuration, world.now, floating);
}

function notBelowZero(cents: bigint): bigint {
  return cents < 0n ? 0n : cents;
}

function expectEqual(what: string, shown: bigint, exact: bigint): void {
  if (shown !== exact) throw new Error(`${what} is ${dollars(shown)}, and ${dollars(exact)} by the reference`);
}
