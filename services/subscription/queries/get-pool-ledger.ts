import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type {
  GetPoolLedgerRequest,
  GetPoolLedgerResponse,
  PoolHolding,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { statusMessage } from "../messages/subscription.ts";
import type { Deps } from "../deps.ts";
import { onMaster } from "../domain/buckets.ts";
import { findPoolLedger, type LedgerHolding } from "../store/pool-ledger.ts";

const NOTHING_FILED = { filedNumber: 0n, own: 0n, imported: 0n, unallocated: 0n, holdings: [] };

/** The books of a pool at one instant: the expected balance of the Master at its last filed log entry. */
export async function getPoolLedger(
  { pool, accounts }: Deps,
  { masterLogin }: GetPoolLedgerRequest,
  context: CallContext,
): Promise<GetPoolLedgerResponse> {
  const ledger = await findPoolLedger(pool, masterLogin);
  if (ledger === undefined) await failAsUnavailable(() => accounts.findMaster({ login: masterLogin }, context));
  const { filedNumber, own, imported, unallocated, holdings } = ledger ?? NOTHING_FILED;
  const unowned = own + imported + unallocated;
  const expected = holdings.reduce((total, holding) => total + onMaster(holding.buckets), unowned);
  return {
    expectedMasterBalance: money(expected),
    filedLogNumber: filedNumber < 0n ? 0n : filedNumber,
    external: money(unowned),
    holdings: holdings.map(holdingMessage),
  };
}

function holdingMessage({ subscriptionId, investorLogin, status, buckets }: LedgerHolding): PoolHolding {
  return {
    subscriptionId,
    investorLogin,
    status: statusMessage(status),
    outside: money(buckets.outside),
    inbound: money(buckets.inbound),
    waiting: money(buckets.waiting),
    pooled: money(buckets.pooled),
    reserved: money(buckets.reserved),
    outbound: money(buckets.outbound),
    quarantined: money(buckets.quarantined),
    unposted: money(buckets.unposted),
  };
}

function money(minor: bigint): Money {
  return moneyToProto(usd(minor));
}
