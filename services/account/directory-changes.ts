import { usdToProto } from "#kernel/contract/money.ts";
import { publish } from "#kernel/feed/publish.ts";
import type { Transaction } from "#kernel/postgres/transaction.ts";
import { MasterChanged } from "#proto/pamm/account/v1/events.ts";
import type { ProfileKind } from "./domain/profile.ts";
import { reserveProfile } from "./processes/profile.ts";
import { insertInvestor } from "./store/investors.ts";
import { insertMaster, updateMaster } from "./store/masters.ts";
import { moveProfile } from "./store/profiles.ts";
import type { Investor, Master, MasterChange, NewInvestor, NewMaster } from "./domain/master.ts";

/** Other services keep from this feed what they need to know of Masters. */
export const DIRECTORY_FEED = "account.directory";

export async function registerInvestor(tx: Transaction, fresh: NewInvestor): Promise<Investor> {
  const investor = await insertInvestor(tx, fresh);
  await labelAccount(tx, "INVESTOR", fresh);
  return investor;
}

export async function registerMaster(tx: Transaction, fresh: NewMaster): Promise<Master> {
  const master = await insertMaster(tx, fresh);
  await labelAccount(tx, "MASTER", fresh);
  publishMaster(tx, master);
  return master;
}

export async function changeMaster(tx: Transaction, id: bigint, change: MasterChange, at: Date): Promise<void> {
  publishMaster(tx, await updateMaster(tx, id, change, at));
}

function publishMaster(tx: Transaction, { login, minDeposit }: Master): void {
  publish(tx, { feed: DIRECTORY_FEED, event: MasterChanged, message: { login, minDeposit: usdToProto(minDeposit) } });
}

/** The profile of a new account: its own, or that of the request that has created it. */
async function labelAccount(tx: Transaction, kind: ProfileKind, fresh: NewInvestor | NewMaster): Promise<void> {
  const { login, commandId, profile } = fresh;
  if (profile === undefined) await moveProfile(tx, commandId, login);
  else await reserveProfile(tx, { kind, login }, profile);
}
