import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { pageOf, pageSize } from "#kernel/page.ts";
import type { ListPaymentCreditsRequest, ListPaymentCreditsResponse } from "#proto/pamm/fee/v1/fee.ts";
import type { Deps } from "../deps.ts";
import { listCredits } from "../store/payments.ts";

export async function listPaymentCredits(
  { pool, accounts }: Deps,
  { masterLogin, afterId, limit }: ListPaymentCreditsRequest,
  context: CallContext,
): Promise<ListPaymentCreditsResponse> {
  const { paymentAccountLogin } = await accounts.findMaster({ login: masterLogin }, context);
  const size = pageSize(limit);
  const { items, hasMore } = pageOf(await listCredits(pool, { masterLogin, afterId, limit: size + 1 }), size);
  return {
    paymentAccountLogin,
    items: items.map((credit) => ({ ...credit, amount: moneyToProto(credit.amount) })),
    hasMore,
  };
}
