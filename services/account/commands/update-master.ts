import { childContext } from "#kernel/contract/context.ts";
import type { CallContext } from "#kernel/contract/contract.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { inTransaction } from "#kernel/postgres/transaction.ts";
import type { Master as MasterMessage, UpdateMasterRequest } from "#proto/pamm/account/v1/account.ts";
import type { Deps } from "../deps.ts";
import { checkAll, minDepositError, nameError, textError } from "../domain/checks.ts";
import type { Master, MasterChange } from "../domain/master.ts";
import { masterMessage } from "../messages.ts";
import { countInvestors } from "../queries/count-investors.ts";
import { getMasterById } from "../queries/get-master.ts";
import { insertAnsweredMaster } from "../store/answered-masters.ts";
import { updateMaster as storeChange } from "../store/masters.ts";
import { answerMasterAgain } from "./answer-again.ts";
import { once } from "./once.ts";

/** Changes what is shown, and the minimum that later assignments are held to. Moves no funds. */
export async function updateMaster(
  deps: Deps,
  request: UpdateMasterRequest,
  context: CallContext,
): Promise<MasterMessage> {
  const { id, name, strategyName, strategy } = request;
  const minDeposit = request.minDeposit && moneyFromProto(request.minDeposit, "min_deposit");
  const change: MasterChange = { name, strategyName, strategy, minDeposit };
  checkAll(
    nameError("name", name),
    textError("strategy_name", strategyName),
    textError("strategy", strategy),
    minDepositError(minDeposit),
    Object.values(change).every((value) => value === undefined) ? NOTHING_TO_CHANGE : undefined,
  );
  const work = async (): Promise<MasterMessage> => {
    // Asked first: afterwards a failure would hide that the change was made.
    const { login } = await getMasterById(deps, id);
    const counts = await countInvestors(deps, [login], childContext(context));
    const investorsCount = counts.get(login) ?? 0n;
    return masterMessage(await changeOnce(deps, { id, change, investorsCount }, context), investorsCount);
  };
  return await once(deps, context, { work, again: () => answerMasterAgain(deps, id, context.commandId) });
}

type Wanted = { readonly id: bigint; readonly change: MasterChange; readonly investorsCount: bigint };

/** Given again later, it must not undo what others have changed since. */
async function changeOnce(deps: Deps, { id, change, investorsCount }: Wanted, context: CallContext): Promise<Master> {
  return await inTransaction(deps.pool, async (tx) => {
    const master = (await storeChange(tx, id, change)) ?? (await getMasterById(deps, id));
    const command = { commandId: context.commandId, at: deps.now() };
    await insertAnsweredMaster(tx, command, { master, investorsCount });
    return master;
  });
}

const NOTHING_TO_CHANGE = {
  field: "",
  code: "nothing_to_change",
  message: "At least one of name, strategy_name, strategy and min_deposit is required.",
};
