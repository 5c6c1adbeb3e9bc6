import { type BatchQueue, batchQueue } from "#kernel/batches/batch-queue.ts";
import { byKey, type GatheredRead, gatherReads } from "#kernel/batches/gather-reads.ts";
import type { Decision } from "./messages/decision.ts";
import { type Committer, type FinalPayment, settlePayments } from "./processes/payment/settle-payments.ts";
import { type Collection, listCollections } from "./store/collections.ts";
import { type DuePayment, listOpenPayments } from "./store/due-payments.ts";
import { type DebitedPayment, markDebited } from "./store/settled-payments.ts";
import { type Recorded, recordTogether } from "./processes/recording/record-decisions.ts";

/**
 * Reads and writes that concurrent calls share: what waits while one commit runs is in the next. One commit of a kind at a
 * time, because two would wait for each other at the rows of their Masters.
 */
export type FeeQueues = {
  /** Decisions of withdrawals and exits. */
  readonly recording: BatchQueue<Decision, Recorded>;
  readonly settling: BatchQueue<FinalPayment, undefined>;
  /** Debits whose credits are pending. */
  readonly debits: BatchQueue<DebitedPayment, undefined>;
  readonly collections: GatheredRead<string, Collection>;
  /** Payments that are not settled, by the keys of their transfers. */
  readonly openPayments: GatheredRead<string, DuePayment>;
};

/** Investors of one commit: others wait that long for the rows of their Masters. */
const MAX_RECORDED = 64;
/** Payments of one commit: those of a whole batch of transfers. */
const MAX_SETTLED = 500;
/** Bounds the memory; a call that finds so many others before it is refused as busy. */
const MAX_WAITING = 5_000;

export function feeQueues(needs: Committer): FeeQueues {
  const { pool } = needs;
  return {
    recording: batchQueue<Decision, Recorded>({
      name: "record fees",
      maxItems: MAX_RECORDED,
      maxWaiting: MAX_WAITING,
      keyOf: ({ investors, key }) => investors[0]?.investorLogin ?? key,
      run: (decisions) => recordTogether(needs, decisions),
    }),
    settling: batchQueue<FinalPayment, undefined>({
      name: "settle payments",
      maxItems: MAX_SETTLED,
      maxWaiting: MAX_WAITING,
      keyOf: ({ payment }) => String(payment.id),
      run: (answered) => settlePayments(needs, answered),
    }),
    debits: batchQueue<DebitedPayment, undefined>({
      name: "record debits",
      maxItems: MAX_SETTLED,
      maxWaiting: MAX_WAITING,
      keyOf: ({ id }) => String(id),
      run: async (debited) => {
        await markDebited(pool, debited);
        return debited.map(() => undefined);
      },
    }),
    collections: gatherReads((keys) => listCollections(pool, keys)),
    openPayments: gatherReads(async (keys) => byKey(await listOpenPayments(pool, keys), ({ key }) => key)),
  };
}
