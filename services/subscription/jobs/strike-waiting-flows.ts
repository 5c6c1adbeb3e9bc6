import { inTransaction, type Transaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../deps.ts";
import { changeSeat } from "../domain/places.ts";
import { strike } from "../domain/strike.ts";
import { isGateOpen } from "../store/gates.ts";
import { listPoolsThatWait, lockWaitingSeats, saveSeats } from "../store/seats.ts";

const POOLS_PER_ROUND = 20;
const SEATS_PER_STRIKE = 500;

/** What has reached the Master joins what works there. A closed gate is left alone: who closed it strikes by itself. */
export async function strikeWaitingFlows(deps: Deps): Promise<boolean> {
  const pools = await listPoolsThatWait(deps.pool, POOLS_PER_ROUND);
  let struck = 0;
  for (const masterLogin of pools) struck += await inTransaction(deps.pool, (tx) => strikePool(tx, masterLogin));
  return struck > 0;
}

async function strikePool(tx: Transaction, masterLogin: string): Promise<number> {
  if (!(await isGateOpen(tx, masterLogin))) return 0;
  const seats = await lockWaitingSeats(tx, masterLogin, SEATS_PER_STRIKE);
  const struck = seats.map((seat) => {
    const change = strike({ kind: "inflow", amount: seat.places.waiting });
    return { ...seat, places: changeSeat(seat.places, change) };
  });
  await saveSeats(tx, struck);
  return struck.length;
}
