import type { CallContext } from "#kernel/contract/contract.ts";
import { failAsUnavailable } from "#kernel/contract/deadlines.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type { Money } from "#proto/pamm/common/v1/money.ts";
import type {
  GetPoolLedgerRequest,
  GetPoolLedgerResponse,
  PoolSeat,
} from "#proto/pamm/subscription/v1/subscription.ts";
import { statusMessage } from "../messages/subscription.ts";
import type { Deps } from "../deps.ts";
import { onMaster } from "../domain/places.ts";
import { findPoolLedger, type LedgerSeat } from "../store/pool-ledger.ts";

const NOTHING_FILED = { filedNumber: 0n, foreign: 0n, unallocated: 0n, suspense: 0n, seats: [] };

/** One state of the books: what the Master has to show at the last entry of its log that is filed. */
export async function getPoolLedger(
  { pool, accounts }: Deps,
  { masterLogin }: GetPoolLedgerRequest,
  context: CallContext,
): Promise<GetPoolLedgerResponse> {
  const ledger = await findPoolLedger(pool, masterLogin);
  if (ledger === undefined) await failAsUnavailable(() => accounts.findMaster({ login: masterLogin }, context));
  const { filedNumber, foreign, unallocated, suspense, seats } = ledger ?? NOTHING_FILED;
  // Results that are not split yet belong to nobody, as those that were split among nobody.
  const nobodys = foreign + unallocated + suspense;
  const expected = seats.reduce((total, seat) => total + onMaster(seat.places), nobodys);
  return {
    expectedMasterBalance: money(expected),
    filedLogNumber: filedNumber < 0n ? 0n : filedNumber,
    foreign: money(nobodys),
    seats: seats.map(seatMessage),
  };
}

function seatMessage({ subscriptionId, investorLogin, status, places }: LedgerSeat): PoolSeat {
  return {
    subscriptionId,
    investorLogin,
    status: statusMessage(status),
    outside: money(places.outside),
    inbound: money(places.inbound),
    waiting: money(places.waiting),
    pooled: money(places.pooled),
    reserved: money(places.reserved),
    outbound: money(places.outbound),
    quarantined: money(places.quarantined),
    unposted: money(places.unposted),
  };
}

function money(minor: bigint): Money {
  return moneyToProto(usd(minor));
}
