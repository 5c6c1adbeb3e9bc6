import { expect, test } from "vitest";
import { HOUR_MS } from "#kernel/duration.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import { many, sql } from "#kernel/postgres/query.ts";
import type { Layer } from "../domain/layers.ts";
import { INVESTOR, MASTER, PAYMENT_ACCOUNT } from "../testing/fee.ts";
import { aWorld } from "../testing/world.ts";
import { insertMaster } from "./masters.ts";
import { lockPairs, savePairs } from "./pairs.ts";

const OWN = { ownLogins: [MASTER], masterLogins: [MASTER] };

const layer = (hour: number, amount: bigint): Layer => {
  const at = new Date(Date.UTC(2026, 0, 3) + hour * HOUR_MS);
  return { amount, earnedFrom: at, earnedTo: at };
};

test("only the layers that change are written, and layers above the top are deleted", async () => {
  const { pool } = (await aWorld()).deps;
  await insertMaster(pool, MASTER, PAYMENT_ACCOUNT);
  const empty = { investorLogin: INVESTOR, masterLogin: MASTER, foldedNumber: 0n, crystallisedAt: undefined };
  const none = { ...empty, earnings: { earned: 0n, mark: 0n, layers: [] }, storedLayers: [] };
  const save = (layers: readonly Layer[]) =>
    inTransaction(pool, async (tx) => {
      const [pair = none] = await lockPairs(tx, [INVESTOR], OWN);
      await savePairs(tx, [{ ...pair, earnings: { ...pair.earnings, layers } }]);
      const { rows } = await tx.query("select pg_current_xact_id()::text as xid");
      return String(rows[0].xid);
    });
  const written = async (): Promise<unknown[]> => {
    const layers = sql`select number, amount_e8 as amount, xmin::text as xid from fee_layer order by number`;
    return (await many<{ number: number; amount: bigint; xid: string }>(pool, layers)).map(Object.values);
  };

  const first = await save([layer(1, 10n), layer(2, 20n), layer(3, 30n)]);
  const second = await save([layer(1, 10n), layer(2, 20n), layer(3, 31n), layer(4, 40n)]);
  expect(await written()).toEqual([
    [1, 10n, first],
    [2, 20n, first],
    [3, 31n, second],
    [4, 40n, second],
  ]);
  const third = await save([layer(1, 10n), layer(2, 5n)]);
  expect(await written()).toEqual([
    [1, 10n, first],
    [2, 5n, third],
  ]);
  await save([layer(1, 10n), layer(2, 5n)]);
  expect(await written()).toEqual([
    [1, 10n, first],
    [2, 5n, third],
  ]);
  const [pair] = await inTransaction(pool, (tx) => lockPairs(tx, [INVESTOR], OWN));
  expect(pair?.earnings.layers).toEqual([layer(1, 10n), layer(2, 5n)]);
});
