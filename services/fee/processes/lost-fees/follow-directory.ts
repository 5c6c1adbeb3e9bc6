import { callContext } from "#kernel/contract/context.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Deps } from "../../deps.ts";
import { lockMaster } from "../../store/masters.ts";
import { listPaymentAccounts, setPaymentAccount } from "../../store/payment-accounts.ts";
import { requireKnownFees } from "./require-known-fees.ts";

const WITHIN_MS = 5_000;
/** Calls at the same time; account answers them by one statement. */
const BATCH = 100;

/** Repeats changes of payment accounts that the database has lost: account has recorded them. Before any fee is decided. */
export async function followDirectory(deps: Deps): Promise<void> {
  for (let after = ""; ;) {
    const batch = await listPaymentAccounts(deps.pool, after, BATCH);
    await Promise.all(batch.map(({ masterLogin, account }) => follow(deps, masterLogin, account)));
    const last = batch.at(-1);
    if (last === undefined || batch.length < BATCH) return;
    after = last.masterLogin;
  }
}

async function follow(deps: Deps, masterLogin: string, known: string): Promise<void> {
  const context = callContext({ caller: "fee", withinMs: WITHIN_MS });
  const { paymentAccountLogin: to } = await deps.accounts.findMaster({ login: masterLogin }, context);
  if (to === known) return;
  await inTransaction(deps.pool, async (tx) => {
    await requireKnownFees(tx, deps);
    await lockMaster(tx, masterLogin);
    await setPaymentAccount(tx, masterLogin, to);
  });
  deps.log.warn("change of payment account was lost with commits of the database and is repeated", {
    login: masterLogin,
  });
}
