import { many, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { UnitSeat } from "../domain/pool/unit-pool.ts";
import { lockSeats } from "./seats.ts";

export type ActiveSeat = {
  readonly subscriptionId: bigint;
  readonly investorLogin: string;
  readonly startedAt: Date;
};

/** Everybody in the pool. Who that is changes only under the lock of the pool, which the caller has. */
export async function listActiveSeats(tx: Transaction, masterLogin: string): Promise<ActiveSeat[]> {
  return many<ActiveSeat>(
    tx,
    sql`select id as "subscriptionId", investor_login as "investorLogin", started_at as "startedAt"
        from subscription
        where master_login = ${masterLogin} and status = 'ACTIVE'
        order by id`,
  );
}

type SeatRow = Omit<UnitSeat, "units"> & { readonly units: string };

/**
 * Everybody's units and carry change under the lock of the pool alone, which the caller has; money also moves with the
 * Investor's own account. So only who has something to strike is locked, and what comes to the others meanwhile takes no
 * part yet: it is shown as if it had not left, which is worth the same.
 */
export async function readUnitSeats(tx: Transaction, masterLogin: string): Promise<UnitSeat[]> {
  const locked = new Set(await lockSeatsToStrike(tx, masterLogin));
  const rows = await many<SeatRow>(
    tx,
    sql`select seat.subscription_id as "subscriptionId", units, pooled_minor as pooled, waiting_minor as waiting,
               unredeemed_minor as unredeemed, carry_e8 as carry
        from seat join subscription on subscription.id = seat.subscription_id
        where subscription.master_login = ${masterLogin} and subscription.status = 'ACTIVE'
        order by seat.subscription_id`,
  );
  return rows.map((row) => {
    const seat = { ...row, units: BigInt(row.units) };
    return locked.has(seat.subscriptionId) ? seat : withoutFlows(seat);
  });
}

async function lockSeatsToStrike(tx: Transaction, masterLogin: string): Promise<bigint[]> {
  const rows = await many<{ subscriptionId: bigint }>(
    tx,
    sql`select seat.subscription_id as "subscriptionId"
        from seat join subscription on subscription.id = seat.subscription_id
        where seat.master_login = ${masterLogin} and (waiting_minor > 0 or unredeemed_minor > 0)
          and subscription.status = 'ACTIVE'
        order by seat.subscription_id
        for no key update of seat`,
  );
  return rows.map(({ subscriptionId }) => subscriptionId);
}

function withoutFlows(seat: UnitSeat): UnitSeat {
  return { ...seat, pooled: seat.pooled + seat.unredeemed, waiting: 0n, unredeemed: 0n };
}

/** Adds what has changed, so that nothing is lost of what has come to a seat since it was read. */
export async function changeSeats(
  tx: Transaction,
  before: readonly UnitSeat[],
  after: readonly UnitSeat[],
): Promise<void> {
  const changes = changesOf(before, after);
  if (changes.length === 0) return;
  await lockSeats(
    tx,
    changes.map(({ subscriptionId }) => subscriptionId),
  );
  await many(
    tx,
    sql`update seat
        set units = book.units, carry_e8 = book.carry, pooled_minor = pooled_minor + book.pooled,
            waiting_minor = waiting_minor + book.waiting, unredeemed_minor = unredeemed_minor + book.unredeemed
        from unnest(
          ${changes.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${changes.map(({ units }) => units)}::numeric[],
          ${changes.map(({ carry }) => carry)}::bigint[],
          ${changes.map(({ pooled }) => pooled)}::bigint[],
          ${changes.map(({ waiting }) => waiting)}::bigint[],
          ${changes.map(({ unredeemed }) => unredeemed)}::bigint[]
        ) as book (subscription_id, units, carry, pooled, waiting, unredeemed)
        where seat.subscription_id = book.subscription_id`,
  );
}

/** Units and carry as they are to be, money as what is added. */
function changesOf(before: readonly UnitSeat[], after: readonly UnitSeat[]): UnitSeat[] {
  const now = new Map(after.map((seat) => [seat.subscriptionId, seat]));
  return before.flatMap((old) => {
    const seat = now.get(old.subscriptionId) ?? emptied(old);
    const pooled = seat.pooled - old.pooled;
    const waiting = seat.waiting - old.waiting;
    const unredeemed = seat.unredeemed - old.unredeemed;
    const isSame = seat.units === old.units && seat.carry === old.carry;
    if (isSame && pooled === 0n && waiting === 0n && unredeemed === 0n) return [];
    return [{ ...seat, pooled, waiting, unredeemed }];
  });
}

/** Who has left a pool keeps nothing of it. */
function emptied(seat: UnitSeat): UnitSeat {
  return { ...seat, units: 0n, pooled: 0n, waiting: 0n, unredeemed: 0n, carry: 0n };
}
