import { parseExact } from "#kernel/values/exact-decimal.ts";
import { calculationOf } from "../../services/fee/domain/fee-calculation.ts";
import { feeFactsOf } from "../../services/fee/messages/calculation.ts";
import type { Explanation } from "../../services/subscription/domain/fees/explain.ts";
import {
  continueFold,
  type Fold,
  foldAgain,
  type FoldStart,
  isDivided,
} from "../../services/subscription/domain/fees/fold.ts";
import { type Earnings, NOTHING_EARNED, type Part } from "../../services/subscription/domain/fees/layers.ts";
import { sumDueNow } from "../../services/subscription/queries/due-now.ts";
import { type Change, versionOfAssignment, versionOfChange } from "../../services/fee/domain/change-timeline.ts";
import { versionsAfter } from "../../services/fee/testing/a-version.ts";
import { E8_PER_CENT } from "./tolerance.ts";
import { dollars } from "./engine/cents.ts";
import type { FeeCommand } from "./engine/configuration.ts";
import type { Layer } from "./engine/fee.ts";
import { compare, type Fraction, fraction, show, total } from "./engine/fraction.ts";
import {
  accountOf,
  type Due,
  type DueItem,
  type FeeEvent,
  type Investor,
  type Master,
  type World,
} from "./engine/world.ts";
import {
  decideDebts,
  decideDue,
  type Due as RealDue,
  explainDue,
} from "../../services/subscription/domain/fees/due.ts";
import type { Debt } from "../../services/subscription/domain/fees/terms.ts";
import { scheduledAfter, stepsOf, type Version } from "../../services/fee/domain/timeline.ts";

type PendingFacts = {
  readonly versions: readonly Version[];
  readonly debts: readonly Debt[];
  readonly at: Date;
  /** Undefined outside a pool. */
  readonly own: { readonly masterLogin: string; readonly earnings: Earnings; readonly floating: bigint } | undefined;
};

/** Cents, with the explanation of the fee in a pool. */
type Pending = { readonly total: bigint; readonly explanation: Explanation | undefined };

/** What is shown as pending: subscription decides on the terms that fee sends. */
export function decidePending({ versions, debts, at, own }: PendingFacts): Pending {
  const terms = stepsOf(versions);
  const facts = {
    terms,
    since: undefined,
    updatedAt: versions.at(-1)?.madeAt,
    debts,
    prepaid: new Map<string, bigint>(),
    openWeekly: [],
  };
  const inPool = own && { ...own, terms, debts, markedAt: undefined, at };
  return { total: sumDueNow({ facts, at, inPool }), explanation: inPool && explainDue(inPool) };
}

/** All results of an Investor with a Master, and those that are added up; the number of a result is its place. */
type Account = { readonly results: Part[]; fold: Fold };
type Payer = { versions: readonly Version[]; debts: Debt[]; readonly accounts: Map<Master, Account> };

const SHARES_PER_CENT = 1_000_000_000_000n;
const MAX_RESULTS_PER_STEP = 3;

/** Computes the fees of all Investors with the code under test, from the same allocations. Throws when any amount differs. */
export function modelFees(): World["onFeeEvent"] {
  const payers = new Map<Investor, Payer>();
  const payerOf = (investor: Investor): Payer => {
    const payer = payers.get(investor) ?? { versions: [], debts: [], accounts: new Map() };
    payers.set(investor, payer);
    return payer;
  };
  const sizes = stepSizes();
  return (event: FeeEvent) => {
    const payer = payerOf(event.investor);
    switch (event.kind) {
      case "configured":
        payer.versions = timelineAfter(payer.versions, event.command);
        break;
      case "earned":
        accountIn(payer, event.master).results.push({ amount: event.cents, earnedAt: new Date(event.at) });
        break;
      case "shown":
        expectNow(payer, event, sizes);
        break;
      case "crystallised":
        if (event.master !== undefined) foldInSteps(payer, event.master, sizes);
        expectPending(event.investor, pendingOf(payer, event), event.due);
        expectDue(event.investor, decide(payer, event), event.due);
        if (event.master !== undefined) {
          expectSame(event.investor, accountIn(payer, event.master).fold, event.master);
        }
        break;
      case "collected":
        payer.debts = debtsAfter(payer.debts, event.item, event);
    }
  };
}

/** What is shown as pending at any time, folded as a query does it: nothing of it is kept. */
function expectNow(payer: Payer, event: Extract<FeeEvent, { kind: "shown" }>, sizes: Iterator<number, never>): void {
  const accounts = new Map([...payer.accounts].map(([master, account]) => [master, { ...account }]));
  const copy = { ...payer, accounts };
  if (event.master !== undefined) foldInSteps(copy, event.master, sizes);
  expectPending(event.investor, pendingOf(copy, event), event.due);
  if (event.master !== undefined) expectSame(event.investor, accountIn(copy, event.master).fold, event.master);
}

function accountIn({ accounts }: Payer, master: Master): Account {
  const account = accounts.get(master) ?? { results: [], fold: { foldedNumber: 0n, earnings: NOTHING_EARNED } };
  accounts.set(master, account);
  return account;
}

/** Adds the results that are missing before a decision, as the service does it, in steps of random sizes. */
function foldInSteps(payer: Payer, master: Master, sizes: Iterator<number, never>): void {
  const account = accountIn(payer, master);
  const terms = stepsOf(payer.versions);
  const last = BigInt(account.results.length);
  for (let fold = account.fold; ; account.fold = fold) {
    if (isDivided(fold, terms)) fold = foldAgain(fold, startOf(account.results, fold));
    if (fold.foldedNumber === last) break;
    const first = Number(fold.foldedNumber);
    const parts = account.results.slice(first, first + sizes.next().value);
    fold = continueFold(fold, { parts, foldedNumber: fold.foldedNumber + BigInt(parts.length) }, terms);
  }
}

/** Before the first result of the layers: the last place at which what was earned is not above the mark. */
function startOf(results: readonly Part[], { foldedNumber, earnings }: Fold): FoldStart {
  let { earned } = earnings;
  for (let number = foldedNumber; ; number -= 1n) {
    if (earned * E8_PER_CENT <= earnings.mark) return { number, earned };
    earned -= results[Number(number) - 1]!.amount;
  }
}

/** Random numbers from 1 to the maximum, the same ones for each history. */
function* stepSizes(): Generator<number, never> {
  for (let state = 1; ; state = (state * 48_271) % 0x7fff_ffff) yield 1 + (state % MAX_RESULTS_PER_STEP);
}

function timelineAfter(versions: readonly Version[], command: FeeCommand): readonly Version[] {
  const at = new Date(command.at);
  if (command.kind !== "cancellation") return versionsAfter(versions, changeOf(versions, command), at);
  const scheduled = scheduledAfter(versions, at);
  if (scheduled?.effectiveSince.getTime() !== command.since) throw new Error("no version is scheduled for that time");
  return versions.filter((version) => version !== scheduled);
}

function changeOf(versions: readonly Version[], command: FeeCommand): Change {
  const { kind, ratePpm, enabled, since } = command;
  const at = new Date(command.at);
  const effectiveSince = since === undefined ? undefined : new Date(since);
  if (kind === "assignment") {
    const terms = { ratePpm: Number(ratePpm), enabled: enabled === true };
    return versionOfAssignment(versions, { ...terms, effectiveSince: effectiveSince ?? at });
  }
  const rate = ratePpm === undefined ? undefined : Number(ratePpm);
  return versionOfChange(versions, { ratePpm: rate, enabled, effectiveSince }, at);
}

function decide(payer: Payer, event: Extract<FeeEvent, { kind: "crystallised" }>): readonly RealDue[] {
  const at = new Date(event.due.at);
  const { master } = event;
  const { debts } = payer;
  const terms = stepsOf(payer.versions);
  if (master === undefined) return decideDebts({ terms, debts, at });
  const account = accountIn(payer, master);
  const { earnings } = account.fold;
  const floating = event.due.floatingE8;
  const masterLogin = master.name;
  const decided = decideDue({ masterLogin, earnings, terms, debts, floating, markedAt: undefined, at });
  account.fold = { ...account.fold, earnings: decided.earnings };
  return decided.due;
}

function pendingOf(payer: Payer, { master, due }: Extract<FeeEvent, { kind: "crystallised" | "shown" }>): Pending {
  const { versions, debts } = payer;
  const at = new Date(due.at);
  if (master === undefined) return decidePending({ versions, debts, at, own: undefined });
  const { earnings } = accountIn(payer, master).fold;
  const own = { masterLogin: master.name, earnings, floating: due.floatingE8 };
  return decidePending({ versions, debts, at, own });
}

/** What is shown as pending right before a decision is what it takes, and its explanation ties to the exact fee. */
function expectPending(investor: Investor, { total: shown, explanation }: Pending, due: Due): void {
  if (shown !== due.pending) {
    throw new Error(`${investor.name} is shown ${dollars(shown)} as pending, not ${dollars(due.pending)}`);
  }
  if (explanation === undefined) return;
  const calculation = calculationOf(feeFactsOf(explanation));
  if (calculation === undefined) throw new Error(`the explanation of a fee of ${investor.name} does not add up`);
  const exact = fraction(parseExact(calculation.exactFee, 14) ?? -1n, SHARES_PER_CENT);
  expectEqual(`exact fee of ${investor.name}`, exact, due.exact);
  const fee = due.items.find(({ suffix }) => suffix !== "DEBT")?.cents ?? 0n;
  if (calculation.fee !== dollars(fee)) throw new Error(`${calculation.fee} is explained, not ${dollars(fee)}`);
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

/** A layer of the service is the sum of the next layers of the reference that were earned in its time. */
function expectSame(investor: Investor, { earnings: real }: Fold, master: Master): void {
  const { gained, highWaterMark, layers } = accountOf(master, investor);
  const name = `${investor.name} at ${master.name}`;
  if (real.earned !== gained) throw new Error(`${name} earned ${dollars(real.earned)}, not ${dollars(gained)}`);
  expectEqual(`high-water mark of ${name}`, fraction(real.mark, E8_PER_CENT), highWaterMark);
  const rest = [...layers];
  const exact = real.layers.map(({ amount, earnedFrom, earnedTo }) => {
    const own: Layer[] = [];
    // A repair is earned at an earlier time, so that a time alone says nothing.
    while (rest[0] !== undefined && compare(total(own.map(amountOf)), fraction(amount, E8_PER_CENT)) < 0) {
      const { earnedAt } = rest[0];
      if (earnedAt < earnedFrom.getTime() || earnedAt > earnedTo.getTime()) break;
      own.push(...rest.splice(0, 1));
    }
    return { count: own.length, amount: total(own.map(amountOf)) };
  });
  const amounts = [real.layers.map(({ amount }) => fraction(amount, E8_PER_CENT)), exact.map(({ amount }) => amount)];
  const [shown, expected] = amounts.map((each) => each.map(show).join(" "));
  const covered = exact.reduce((sum, { count }) => sum + count, 0);
  if (shown !== expected || covered !== layers.length) {
    throw new Error(`layers of ${name} are ${shown}, not ${expected}, and cover ${covered} of ${layers.length}`);
  }
}

const amountOf = ({ amount }: Layer): Fraction => amount;

function expectEqual(what: string, shown: Fraction, exact: Fraction): void {
  if (compare(shown, exact) !== 0) throw new Error(`${what} is ${show(shown)}, not ${show(exact)}`);
}
