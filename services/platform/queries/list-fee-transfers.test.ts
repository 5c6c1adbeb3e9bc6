import { expect, test } from "vitest";
import { execute, sql } from "#kernel/postgres/query.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { aDeposit, aTransfer } from "../testing/requests.ts";
import { aCall, anAccount, aWorld } from "../testing/world.ts";

test("only transfers of fee are listed, in pages that end although a thousand transfers of others lie between", async (context) => {
  const { service, ...instance } = await (await aWorld(context)).start({ hasJobs: false });
  const payer = await anAccount({ ...instance, service });
  const receiver = await anAccount({ ...instance, service });
  const aFee = (key: string) =>
    aTransfer(key, [
      { login: payer, kind: MovementKind.FEE_DEBIT, minor: -5_00n },
      { login: receiver, kind: MovementKind.FEE_CREDIT, minor: 5_00n },
    ]);
  await service.transfer(aDeposit(payer, 100_00n), aCall());
  const first = await service.transfer(aFee(`fee:PF:${payer}:1`), aCall());
  const others = sql`
    insert into transfer (key, lock_owner, leg_count, is_enqueued, releases_lock, comment, request_id)
    select 'funding:other:' || number, '', 1, false, false, '', '' from generate_series(1, 1000) number`;
  await execute(instance.deps.pool, others);
  const second = await service.transfer(aFee(`fee:PF:${payer}:2`), aCall());

  const pages = [await service.listFeeTransfers({ afterTransferId: 0n }, aCall())];
  for (let page = pages[0]!; page.nextAfterTransferId > 0n; pages.push(page)) {
    page = await service.listFeeTransfers({ afterTransferId: page.nextAfterTransferId }, aCall());
  }

  expect(pages.map(({ transfers }) => transfers)).toEqual([[first], [second]]);
});
