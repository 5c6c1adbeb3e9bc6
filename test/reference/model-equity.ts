import { refusalToProto } from "#kernel/contract/error.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/values/money.ts";
import { EquityReply } from "../../services/edge/api/history/equity.ts";
import { linesAfter } from "../../services/platform/domain/statement.ts";
import { decideDeparture } from "../../services/subscription/domain/decide-departure.ts";
import { departureReasons } from "../../services/subscription/domain/departure-reasons.ts";
import { centsOf, dollars } from "./engine/cents.ts";
import { isEnabledAt } from "./engine/configuration.ts";
import { pendingFee } from "./engine/fee.ts";
import { dueNow } from "./engine/fees.ts";
import { compare, distance, type Fraction, fraction, show, ZERO } from "./engine/fraction.ts";
import { withdrawalOf } from "./engine/investing.ts";
import { accountOf, activeOf, type Due, type Investor, type World } from "./engine/world.ts";
import { E8_PER_CENT } from "./tolerance.ts";

const EVERYTHING = 10n ** 15n;
const BEFORE_THE_OPENING = { number: -1n, balance: 0n };
const HALF_A_CENT = fraction(1n, 2n);

/** Throws when statement, equity, pending fee, free balance or what blocks a leave differs from the reference. */
export function expectOwned(world: World): void {
  for (const investor of world.investors) {
    expectStatement(investor);
    const due = dueNow(world, investor);
    const master = activeOf(world, investor)?.master;
    // Compares what is shown as pending, the high-water mark and the layers.
    world.onFeeEvent({ kind: "shown", investor, master, due });
    expectEquity(world, investor, due);
  }
}

/** Every line of the statement has the balance after it. */
function expectStatement({ name, journal, balance }: Investor): void {
  const entries = journal.map(({ cents }, index) => ({ number: BigInt(index), amount: cents }));
  const { lines, closing } = linesAfter(BEFORE_THE_OPENING, entries, (entry) => entry);
  expectEqual(`closing balance of ${name}`, closing.balance, balance);
  for (const [index, line] of lines.entries()) {
    expectEqual(`balance after line ${index} of ${name}`, line.balance, journal[index]!.balance);
  }
}

function expectEquity(world: World, investor: Investor, due: Due): void {
  const { name, balance, unposted } = investor;
  const holding = activeOf(world, investor);
  // A withdrawal is possible only when nothing floats.
  const { before, pending, blocked } = withdrawalOf(world, investor);
  const held = holding?.held ?? 0n;
  const pooled = holding?.master.pool.cash(holding.id).pooled ?? 0n;
  const { numbers } = decideDeparture(
    {
      kind: "WITHDRAWAL",
      requested: EVERYTHING,
      // What waits for the end of a deficit is all that is taken.
      held: held > 0n ? held : balance,
      unposted: held > 0n ? 0n : unposted,
      quarantined: 0n,
      reserved: 0n,
      pooled: held > 0n ? held : pooled,
      due: [{ key: "fee", amount: pending, isWeekly: false }],
    },
    "payout",
  );
  expectEqual(`balance before a withdrawal of ${name}`, numbers.before, before);
  expectEqual(`free balance of ${name}`, numbers.available, notBelowZero(before - pending));

  const refusals = departureReasons({
    pool: holding && { masterLogin: holding.master.name, isStopped: false },
    ...(held > 0n
      ? {}
      : {
          master: { isComplete: true, openPositions: holding?.master.floating.size ?? 0 },
          share: { isMoving: false, pooled },
        }),
  });
  const reasons = refusals.map(({ code }) => code).join(" ");
  if (reasons !== blocked.join(" ")) {
    throw new Error(`${name} is blocked by ${reasons || "nothing"}, not ${blocked.join(" ") || "nothing"}`);
  }

  const money = (cents: bigint) => moneyToProto(usd(cents));
  const debt = [...investor.owed.values()].reduce((sum, cents) => sum + cents, 0n);
  const mark = holding === undefined ? ZERO : accountOf(holding.master, investor).highWaterMark;
  const markE8 = (mark.numerator * E8_PER_CENT) / mark.denominator;
  const figures = {
    effectiveWithdraw: money(numbers.effective),
    pendingFee: money(pending),
    balanceBefore: money(numbers.before),
    availableAfterFee: money(numbers.available),
  };
  const shown = EquityReply.of({
    investorLogin: "1",
    asOf: new Date(world.now),
    balance: money(balance),
    unposted: money(unposted),
    quarantined: money(0n),
    holding: holding && { ...NO_HOLDING, pooled: money(pooled), floatingE8: due.floatingE8 },
    pendingFee: money(due.pending),
    feeWhenFlat: money(due.pending),
    debt: money(debt),
    markE8,
    withdrawal: { refusals: refusals.map(refusalToProto), openPositionsChecked: holding !== undefined, figures },
  });
  expectShownEquity(world, investor, due, shown);
}

const NO_HOLDING = {
  subscriptionId: 1n,
  masterLogin: "2",
  joining: moneyToProto(usd(0n)),
  units: "0",
  poolUnits: "0",
  poolValueE8: "0",
  openPositions: 0,
  allocationNumber: 0n,
  dealId: undefined,
  dealAt: undefined,
};

type Shown = ReturnType<typeof EquityReply.of>;

function expectShownEquity(world: World, investor: Investor, due: Due, shown: Shown): void {
  const { name, balance, unposted } = investor;
  const holding = activeOf(world, investor);
  const floating = holding === undefined ? ZERO : holding.master.pool.floating(holding.id, holding.master.floating);
  const amount = (member: "floating_share" | "equity" | "free_to_withdraw" | "pending_fee" | "debt") =>
    centsOf(JSON.stringify(shown[member]));
  const share = amount("floating_share");
  expectNearest(`floating share of ${name}`, share, floating);
  expectEqual(`equity of ${name}`, amount("equity"), balance + unposted + share);
  expectEqual(`pending fee of ${name}`, amount("pending_fee"), due.pending);
  const { before, pending, blocked } = withdrawalOf(world, investor);
  const free = blocked.length > 0 ? 0n : notBelowZero(before - pending);
  expectEqual(`what is free to withdraw for ${name}`, amount("free_to_withdraw"), free);
  const reasons = shown.withdrawal_blocked_by.join(" ");
  if (reasons !== blocked.join(" ")) throw new Error(`${name} is shown as blocked by ${reasons}`);
}

function expectNearest(what: string, shown: bigint, exact: Fraction): void {
  if (compare(distance(fraction(shown), exact), HALF_A_CENT) <= 0) return;
  throw new Error(`${what} is ${dollars(shown)}, and ${show(exact)} cents by the reference`);
}

/** Debts and the fee of a flat Master. */
export function pendingOf(world: World, investor: Investor, floating: Fraction, at = world.now): bigint {
  const { configuration, owed } = investor;
  if (!isEnabledAt(configuration, at)) return 0n;
  const debts = [...owed.values()].reduce((sum, cents) => sum + cents, 0n);
  const holding = activeOf(world, investor);
  if (holding === undefined) return debts;
  return debts + pendingFee(accountOf(holding.master, investor), configuration, at, floating);
}

function notBelowZero(cents: bigint): bigint {
  return cents < 0n ? 0n : cents;
}

function expectEqual(what: string, shown: bigint, exact: bigint): void {
  if (shown !== exact) throw new Error(`${what} is ${dollars(shown)}, and ${dollars(exact)} by the reference`);
}
