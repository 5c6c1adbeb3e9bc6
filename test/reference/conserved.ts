import { dollars } from "./engine/cents.ts";
import { activeAt, activeOf, type World } from "./engine/world.ts";

/** Throws unless each cent is in exactly one bucket. */
export function expectConserved(world: World): void {
  for (const master of world.masters) {
    const owners = [...activeAt(world, master).map(({ id }) => id), "own" as const];
    const holdings = owners.map((owner) => master.pool.cash(owner));
    const pooled = holdings.reduce((sum, holding) => sum + holding.pooled + holding.waiting, 0n);
    expectEqual(`balance of ${master.name}`, master.balance, pooled);
    const paid = master.payments.reduce((sum, { cents }) => sum + cents, 0n);
    expectEqual(`payment account of ${master.name}`, master.paymentBalance, paid);
  }
  for (const investor of world.investors) {
    const holding = activeOf(world, investor);
    if (holding === undefined) continue;
    const { pooled, waiting } = holding.master.pool.cash(holding.id);
    expectEqual(`balance of ${investor.name}`, investor.balance, pooled + waiting + holding.held - investor.unposted);
  }
}

function expectEqual(what: string, shown: bigint, exact: bigint): void {
  if (shown !== exact) throw new Error(`${what} is ${dollars(shown)}, and its parts are ${dollars(exact)}`);
}
