import { failpoint } from "#kernel/failpoint.ts";
import type { Delay } from "#kernel/work-queue/work-queue.ts";
import type { Deps } from "../../deps.ts";
import type { PaymentOutcome } from "../../domain/payment-outcome.ts";
import { type DuePayment, paymentQueue } from "../../store/due-payments.ts";
import type { DebitedPayment } from "../../store/settled-payments.ts";

/** Account locks are held briefly, so a fee that waits for one is requested again soon. */
const MAX_BUSY_MS = 2_000;

export type AnsweredPayment = { readonly payment: DuePayment; readonly outcome: PaymentOutcome };

/**
 * Records the outcomes of payments: final ones together with those that other calls record at the same time. Each payment is
 * settled once, also when several processes report its outcome. Returns the ids of those that this call has settled.
 */
export async function recordOutcomes(
  deps: Pick<Deps, "pool" | "log" | "queues" | "wakeSignals">,
  answered: readonly AnsweredPayment[],
): Promise<ReadonlySet<bigint>> {
  const { pool, wakeSignals } = deps;
  failpoint("before_outcome", answered[0]?.outcome.kind);
  const { settled, waiting } = await settleFinal(deps, answered);
  const debited: DebitedPayment[] = [];
  for (const { payment, outcome } of answered) {
    const { id, tries } = payment;
    if (outcome.kind === "debited") debited.push({ id, outcome });
    if (outcome.kind === "open") {
      waiting.push({ id, tries, reason: outcome.reason, ...(outcome.isBusy ? { maxMs: MAX_BUSY_MS } : {}) });
    }
  }
  await Promise.all(debited.map((each) => deps.queues.debits.add(each)));
  await paymentQueue.retryLater(pool, waiting);
  // Retries are due later, and a settled weekly payment allows the Investor's next one.
  const isAwaited = answered.some(({ payment }) => payment.isWeekly);
  if (waiting.length > 0 || isAwaited) wakeSignals.payments.notify();
  else if (debited.length > 0) wakeSignals.credits.notify();
  return settled;
}

type Recorded = { readonly settled: Set<bigint>; readonly waiting: Delay<bigint>[] };

/** A payment whose outcome cannot be recorded now is requested again, and platform returns the same outcome. */
async function settleFinal(
  { queues, log }: Pick<Deps, "queues" | "log">,
  answered: readonly AnsweredPayment[],
): Promise<Recorded> {
  const recorded: Recorded = { settled: new Set(), waiting: [] };
  const failed: { readonly payment: DuePayment; readonly error: unknown }[] = [];
  await Promise.all(
    answered.map(async ({ payment, outcome }) => {
      if (outcome.kind !== "paid" && outcome.kind !== "unpaid") return;
      try {
        const { isSettled } = await queues.settling.add({ payment, outcome });
        if (isSettled) recorded.settled.add(payment.id);
      } catch (error) {
        failed.push({ payment, error });
      }
    }),
  );
  for (const { payment } of failed) {
    const { id, tries } = payment;
    recorded.waiting.push({ id, tries, reason: "outcome not recorded yet", maxMs: MAX_BUSY_MS });
  }
  for (const [login, own] of Map.groupBy(failed, ({ payment }) => payment.masterLogin)) {
    log.info("fee outcomes not recorded, retry scheduled", { login, count: own.length, error: own[0]?.error });
  }
  return recorded;
}
