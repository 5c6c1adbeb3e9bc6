import type { Transaction } from "#kernel/postgres/transaction.ts";
import { type NewCase, openCase } from "#kernel/review/cases.ts";
import type { Reason } from "#catalogue/reviews.ts";
import type { Leg } from "../../domain/leg.ts";
import { reviewActions } from "../../domain/review-actions.ts";
import { readClock } from "../../store/clock.ts";
import { insertFinding } from "../../store/reviews.ts";
import type { LegNumber } from "../../domain/leg-number.ts";
import { formatReference, type Reference } from "../../domain/reference.ts";
import type { RecordedLeg } from "../../store/leg-row.ts";

/** A difference between the platform and the records that operators have to see. */
export type Finding = {
  readonly login: string;
  readonly reason: Reason;
  /** The leg that it is about, with its new status. */
  readonly leg?: { readonly number: LegNumber; readonly status: Leg } | undefined;
  readonly server?: string | undefined;
  readonly dealId?: bigint | undefined;
  /** Signed. */
  readonly amountMinor?: bigint | undefined;
  /** Of the deal; else that of the leg's last attempt. */
  readonly reference?: Reference | undefined;
  /** What is known, in plain values; amounts as text. */
  readonly evidence: Readonly<Record<string, unknown>>;
};

/** Records a finding once, however often it is seen, and opens a review when there is an action to decide. */
export async function reportFinding(tx: Transaction, finding: Finding): Promise<void> {
  const { login, reason, leg, server, dealId, evidence } = finding;
  const inserted = await insertFinding(tx, { login, reason, leg: leg?.number, server, dealId, evidence });
  const actions = reviewActions(reason, leg?.status);
  if (inserted === undefined || actions.length === 0) return;
  const { id, logMinor } = inserted;
  const reference = finding.reference ?? referenceOf(finding);
  const newCase: NewCase = {
    subject: `finding:${id}`,
    reason,
    login,
    amount: finding.amountMinor,
    operationId: leg === undefined ? "" : String(leg.number),
    reference: reference && formatReference(reference),
    dealId,
    evidence: { ...evidence, log_before_minor: logMinor === null ? undefined : String(logMinor) },
    actions,
  };
  await openCase(tx, newCase, new Date(await readClock(tx)));
}

/** Reports a recorded leg, with its key and its amount. */
export async function reportLeg(
  tx: Transaction,
  leg: RecordedLeg,
  reason: Reason,
  { evidence, ...own }: Partial<Pick<Finding, "server" | "dealId" | "evidence">> = {},
): Promise<void> {
  const { login, key, amountMinor } = leg;
  const known = { key, amount_minor: String(amountMinor), ...evidence };
  await reportFinding(tx, { login, leg, reason, amountMinor, evidence: known, ...own });
}

function referenceOf({ leg }: Finding): Reference | undefined {
  if (leg === undefined || leg.status.attempt === 0) return undefined;
  const { kind, attempt } = leg.status;
  return { kind, number: leg.number, attempt };
}
