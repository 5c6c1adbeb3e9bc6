import { failpoint } from "#kernel/process/failpoint.ts";
import type { Delay } from "#kernel/work-queue/work-queue.ts";
import type { Deps } from "../../deps.ts";
import type { PaymentOutcome } from "../../domain/payment-outcome.ts";
import { type DuePayment, paymentQueue } from "../../store/due-payments.ts";

/** Account locks are held briefly, so a fee that waits for one is requested again soon. */
const MAX_BUSY_MS = 2_000;

export type AnsweredPayment = { readonly payment: DuePayment; readonly outcome: PaymentOutcome };

/**
 * Records the outcomes of payments: final ones together with those that other calls record at the same time. Each payment is
 * settled once, also when several processes report its outcome. One whose outcome cannot be recorded now is requested again, and platform
 * returns the same outcome.
 */
export async function recordOutcomes(
  { pool, queues, wakeSignals, log }: Pick<Deps, "pool" | "log" | "queues" | "wakeSignals">,
  answered: readonly AnsweredPayment[],
): Promise<void> {
  failpoint("before_outcome", answered[0]?.outcome.kind);
  const waiting: Delay<bigint>[] = [];
  const failed: { readonly login: string; readonly error: unknown }[] = [];
  const record = async ({ payment, outcome }: AnsweredPayment): Promise<void> => {
    const { id, tries, masterLogin: login } = payment;
    if (outcome.kind === "debited") await queues.debits.add({ id, outcome });
    else if (outcome.kind === "open") {
      waiting.push({ id, tries, reason: outcome.reason, ...(outcome.isBusy ? { maxMs: MAX_BUSY_MS } : {}) });
    } else {
      await queues.settling.add({ payment, outcome }).catch((error: unknown) => {
        waiting.push({ id, tries, reason: "outcome not recorded yet", maxMs: MAX_BUSY_MS });
        failed.push({ login, error });
      });
    }
  };
  await Promise.all(answered.map(record));
  for (const [login, own] of Map.groupBy(failed, (each) => each.login)) {
    log.info("fee outcomes not recorded, retry scheduled", { login, count: own.length, error: own[0]?.error });
  }
  await paymentQueue.retryLater(pool, waiting);
  // Retries are due later, and a settled weekly payment allows the Investor's next one.
  const isAwaited = answered.some(({ payment }) => payment.isWeekly);
  if (waiting.length > 0 || isAwaited) wakeSignals.payments.notify();
  else if (answered.some(({ outcome }) => outcome.kind === "debited")) wakeSignals.credits.notify();
}
