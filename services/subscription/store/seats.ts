import { many, one, type Queryable, sql } from "#kernel/postgres/query.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import type { SeatBook } from "../domain/books.ts";
import type { SeatPlaces } from "../domain/places.ts";

type SeatRow = Omit<SeatBook, "places"> & SeatPlaces;

/** Locked by ascending id, after pools and accounts. */
export async function lockSeats(tx: Transaction, subscriptionIds: readonly bigint[]): Promise<SeatBook[]> {
  if (subscriptionIds.length === 0) return [];
  const rows = await many<SeatRow>(
    tx,
    sql`select seat.subscription_id as "subscriptionId", seat.master_login as "masterLogin",
               seat.investor_login as "investorLogin", subscription.status = 'ACTIVE' as "isPooled",
               inbound_minor as inbound, waiting_minor as waiting, pooled_minor as pooled,
               reserved_minor as reserved, outbound_minor as outbound, unredeemed_minor as unredeemed
        from seat join subscription on subscription.id = seat.subscription_id
        where seat.subscription_id = any(${subscriptionIds}::bigint[])
        order by seat.subscription_id
        for no key update of seat`,
  );
  return rows.map(toSeat);
}

/** Fresh: nothing of it has units yet. */
export async function insertSeat(tx: Transaction, seat: Omit<SeatBook, "unredeemed">): Promise<void> {
  const { subscriptionId, masterLogin, investorLogin, places } = seat;
  await one(
    tx,
    sql`insert into seat (subscription_id, master_login, investor_login, inbound_minor, waiting_minor, pooled_minor,
                          reserved_minor, outbound_minor)
        values (${subscriptionId}, ${masterLogin}, ${investorLogin}, ${places.inbound}, ${places.waiting},
                ${places.pooled}, ${places.reserved}, ${places.outbound})
        returning subscription_id`,
  );
}

export async function saveSeats(tx: Transaction, seats: readonly SeatBook[]): Promise<void> {
  if (seats.length === 0) return;
  await many(
    tx,
    sql`update seat
        set inbound_minor = book.inbound, waiting_minor = book.waiting, pooled_minor = book.pooled,
            reserved_minor = book.reserved, outbound_minor = book.outbound, unredeemed_minor = book.unredeemed
        from unnest(
          ${seats.map(({ subscriptionId }) => subscriptionId)}::bigint[],
          ${seats.map(({ places }) => places.inbound)}::bigint[],
          ${seats.map(({ places }) => places.waiting)}::bigint[],
          ${seats.map(({ places }) => places.pooled)}::bigint[],
          ${seats.map(({ places }) => places.reserved)}::bigint[],
          ${seats.map(({ places }) => places.outbound)}::bigint[],
          ${seats.map(({ unredeemed }) => unredeemed)}::bigint[]
        ) as book (subscription_id, inbound, waiting, pooled, reserved, outbound, unredeemed)
        where seat.subscription_id = book.subscription_id`,
  );
}

function toSeat({ inbound, waiting, pooled, reserved, outbound, ...seat }: SeatRow): SeatBook {
  return { ...seat, places: { inbound, waiting, pooled, reserved, outbound } };
}

/** Of who has left, with nothing anywhere any more: whoever emptied the seat should have cancelled it. */
export async function listEmptiedPaused(db: Queryable, limit: number): Promise<bigint[]> {
  const rows = await many<{ id: bigint }>(
    db,
    sql`select subscription.id
        from subscription
        join seat on seat.subscription_id = subscription.id
        where subscription.status = 'PAUSED' and seat.inbound_minor = 0 and seat.waiting_minor = 0
          and seat.pooled_minor = 0 and seat.reserved_minor = 0 and seat.outbound_minor = 0
        order by subscription.id
        limit ${limit}`,
  );
  return rows.map(({ id }) => id);
}
