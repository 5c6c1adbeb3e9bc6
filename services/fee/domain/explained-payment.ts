import { parseExact, formatExact, formatUnits } from "#kernel/values/exact-decimal.ts";
import type { FeeCalculation, CalculatedLayer } from "./fee-calculation.ts";
import { formatMinor } from "#kernel/values/money.ts";

/** A part of a debt: what could not be collected of an earlier payment. */
export type DebtPart = {
  readonly paymentId: bigint;
  /** Cents, positive. */
  readonly amount: bigint;
  /** Since when it is owed. */
  readonly since: Date;
};

/** What has joined and left the pool since the fee before, in cents; outflows are positive. */
export type Flows = { readonly after: Date | undefined; readonly inflow: bigint; readonly outflow: bigint };

/** A payment, with everything that is known about why it has its amount. Amounts in cents. */
export type ExplainedPayment = {
  readonly kind: "PF" | "PF_DEBT";
  readonly suffix: string;
  readonly masterLogin: string;
  readonly investorLogin: string;
  readonly isImported: boolean;
  readonly status: "PENDING" | "EXECUTING" | "EXECUTED" | "SKIPPED" | "DEFERRED" | "REVERSED";
  readonly reason: string | undefined;
  readonly due: bigint;
  /** What imported fees had paid of it. */
  readonly prepaid: bigint;
  /** What was collected. */
  readonly amount: bigint;
  readonly since: Date;
  readonly executedAt: Date | undefined;
  readonly calculation: FeeCalculation | undefined;
  /** Of a debt, the oldest first. */
  readonly debtParts: readonly DebtPart[];
  /** Undefined without a calculation, and where they are not kept any more. */
  readonly flows: Flows | undefined;
};

/** Why an explanation is not the whole one. */
export type Missing = "imported" | "calculation" | "flows" | "debt_parts";

const MISSING: Readonly<Record<Missing, string>> = {
  imported: "The fee was collected before a restore of the database, which has lost what it was for.",
  calculation: "No calculation that adds up to this fee is recorded.",
  flows:
    "Deposits and withdrawals since the fee before are not kept any more, or cannot be read at the moment. They do not enter the fee.",
  debt_parts: "This debt comes from more payments than are shown.",
};

export function missingOf({ kind, isImported, calculation, due, debtParts, flows }: ExplainedPayment): Missing[] {
  if (isImported) return ["imported"];
  if (kind === "PF_DEBT") return debtParts.reduce((sum, { amount }) => sum + amount, 0n) === due ? [] : ["debt_parts"];
  if (calculation === undefined || parseExact(calculation.fee, 2) !== due) return ["calculation"];
  return flows === undefined ? ["flows"] : [];
}

export function describeMissing(missing: Missing): string {
  return MISSING[missing];
}

/** What became debt when the payment was settled. */
export function uncollectedOf({ status, due, prepaid, amount }: ExplainedPayment): bigint {
  const isOpen = status === "PENDING" || status === "EXECUTING";
  return isOpen ? 0n : due - prepaid - amount;
}

/** Why nothing was collected, by the code that is recorded; other codes say nothing to a caller. */
const WHY: Readonly<Record<string, string>> = {
  nothing_to_take: "the account had no free money",
  credit_refused: "the payment account could not be credited, so the debit was given back",
  collected_before: "it was collected before a restore of the database",
};

/** Sentences that a person can check with a calculator. Amounts have two decimals, and more only before they are rounded. */
export function paymentLines(payment: ExplainedPayment): string[] {
  const { masterLogin, investorLogin, calculation, flows } = payment;
  return [
    `${titleOf(payment)} of Investor ${investorLogin} to Master ${masterLogin}.`,
    ...(calculation === undefined ? [] : calculationLines(calculation, flows)),
    ...debtLines(payment),
    ...collectionLines(payment),
  ];
}

export function calculationLines(calculation: FeeCalculation, flows?: Flows): string[] {
  const { at, earned, markBefore, markAfter, charged, spared, exactFee, roundedOff, fee } = calculation;
  const profit = aboveMark(calculation);
  return [
    `As of ${time(at)} the result with this Master is ${earned} since the first assign. Fees were charged up to ${markBefore}, the high-water mark, so ${profit} of profit is not charged yet.`,
    `${flows === undefined ? "" : flowText(flows)}Deposits and withdrawals change neither the result nor the high-water mark.`,
    ...openLines(calculation),
    ...spared.map((layer) => `Not charged now: ${layer.amount}, earned ${when(layer)}.`),
    ...charged.map(layerLine),
    roundedOff === "0.00"
      ? `Together the fee is ${fee}.`
      : `Together the exact fee is ${exactFee}. It is rounded down once, by ${roundedOff}, to ${fee}.`,
    markAfter === markBefore
      ? `The high-water mark stays at ${markAfter}.`
      : `The high-water mark rises from ${markBefore} to ${markAfter}.`,
  ];
}

function titleOf({ kind, suffix, isImported }: ExplainedPayment): string {
  if (kind === "PF_DEBT") return "Debt of earlier performance fees";
  if (isImported) return "Performance fee that was collected before a restore of the database";
  if (suffix === "W") return "Performance fee of a week";
  return suffix.startsWith("UA") ? "Performance fee at an unassign" : "Performance fee at a withdrawal";
}

function aboveMark({ earned, markBefore }: FeeCalculation): string {
  const profit = (parseExact(earned) ?? 0n) - (parseExact(markBefore) ?? 0n);
  return formatExact(profit > 0n ? profit : 0n);
}

function flowText({ after, inflow, outflow }: Flows): string {
  const since = after === undefined ? "the first assign" : `the fee of ${time(after)}`;
  return `Since ${since} ${formatMinor(inflow)} joined the pool and ${formatMinor(outflow)} left it, fees included. `;
}

function openLines({ floating, markedAt, markedLateMs }: FeeCalculation): string[] {
  if (floating === "0.00" && markedAt === undefined) return [];
  const late = markedLateMs === undefined ? "" : `, ${formatDuration(markedLateMs)} after the cut-off`;
  const marked = markedAt === undefined ? "" : `, marked at ${time(markedAt)}${late}`;
  const effect = floating.startsWith("-")
    ? "an open loss is taken from the profit that was earned last"
    : "an open profit raises no fee";
  return [`The share of the result of open positions is ${floating}${marked}: ${effect}.`];
}

/** Whole hours, minutes and seconds. */
function formatDuration(ms: bigint): string {
  const parts = [
    [ms / 3_600_000n, "h"],
    [(ms / 60_000n) % 60n, "min"],
    [(ms / 1_000n) % 60n, "s"],
  ] as const;
  return parts.flatMap(([count, unit]) => (count === 0n ? [] : [`${count} ${unit}`])).join(" ");
}

function layerLine(layer: CalculatedLayer): string {
  const { amount, rate, share, versionId } = layer;
  if (rate === undefined) return `${amount}, earned ${when(layer)}, at the rates of that time: ${share}.`;
  const version = versionId === undefined ? "" : ` (fee version ${versionId})`;
  return `${amount}, earned ${when(layer)}, at ${percent(rate)} %${version}: ${share}.`;
}

function debtLines({ kind, debtParts, due, since }: ExplainedPayment): string[] {
  if (kind !== "PF_DEBT") return [];
  return [
    `${formatMinor(due)} was due before and could not be collected, the oldest part since ${time(since)}.`,
    ...debtParts.map(({ paymentId, amount, since: from }) => {
      return `${formatMinor(amount)} of it is of payment ${paymentId}, owed since ${time(from)}.`;
    }),
  ];
}

function collectionLines(payment: ExplainedPayment): string[] {
  const { due, prepaid, amount, isImported, executedAt } = payment;
  const uncollected = uncollectedOf(payment);
  return [
    ...(isImported ? [`${formatMinor(due)} is taken from the fees that are due.`] : []),
    ...(prepaid > 0n
      ? [
          `${formatMinor(prepaid)} of it was collected before a restore of the database, so ${formatMinor(due - prepaid)} is left.`,
        ]
      : []),
    ...(executedAt === undefined
      ? [outcomeLine(payment)]
      : [`${formatMinor(amount)} was collected at ${time(executedAt)}.`]),
    ...(uncollected > 0n ? [`${formatMinor(uncollected)} could not be collected and became debt.`] : []),
  ];
}

function outcomeLine({ status, reason }: ExplainedPayment): string {
  if (status === "PENDING" || status === "EXECUTING") return "It is not collected yet.";
  const why = reason === undefined ? undefined : WHY[reason];
  return why === undefined ? "Nothing was collected." : `Nothing was collected: ${why}.`;
}

function when({ earnedFrom, earnedTo }: CalculatedLayer): string {
  return earnedFrom.getTime() === earnedTo.getTime()
    ? time(earnedFrom)
    : `from ${time(earnedFrom)} to ${time(earnedTo)}`;
}

export function time(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

/** 0.275000 is 27.5. */
function percent(rate: string): string {
  return formatUnits((parseExact(rate, 6) ?? 0n) * 100n, 6).replace(/\.?0+$/, "");
}
