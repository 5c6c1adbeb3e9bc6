import { type EntryOf, readEntry, MalformedEntry } from "#kernel/feed/receive-page.ts";
import { moneyFromProto } from "#kernel/contract/money.ts";
import { type Transaction, afterCommit } from "#kernel/postgres/transaction.ts";
import { MasterChanged } from "#proto/pamm/account/v1/events.ts";
import { saveFollowings, saveMasters } from "../store/investor-facts.ts";
import { FollowingChanged, WithdrawalChanged, WithdrawalProgress } from "#proto/pamm/subscription/v1/events.ts";
import { MovementKind, TransferImported } from "#proto/pamm/platform/v1/movement.ts";
import {
  type ImportedCashflow,
  insertImported,
  type Progress,
  saveProgress,
  type WaitingState,
} from "../store/cashflow-transitions.ts";
import type { Deps } from "../deps.ts";

/** Keeps the minimum deposit of each Master. */
export const DIRECTORY = {
  feed: "account.directory",
  events: [MasterChanged],
  async receive(tx: Transaction, entries: readonly EntryOf<typeof MasterChanged>[]): Promise<void> {
    await saveMasters(tx, new Map(entries.map((entry) => [entry.message.login, minimumOf(entry)])));
  },
};

function minimumOf({ number, message }: EntryOf<typeof MasterChanged>): bigint {
  return readEntry(number, () => moneyFromProto(message.minDeposit, "min_deposit").minor);
}

/** Keeps which Master each Investor follows. */
export const FOLLOWINGS = {
  feed: "subscription.followings",
  events: [FollowingChanged],
  async receive(tx: Transaction, entries: readonly EntryOf<typeof FollowingChanged>[]): Promise<void> {
    const last = new Map(entries.map(({ message }) => [message.investorLogin, message.masterLogin]));
    const followings = Array.from(last, ([login, master]) => ({
      login,
      masterLogin: master === "" ? undefined : master,
    }));
    await saveFollowings(tx, followings);
  },
};

/** Records the operation of each deposit and withdrawal that a restored database had lost and that platform has imported. */
export const IMPORTS = {
  feed: "platform.imports",
  events: [TransferImported],
  async receive(tx: Transaction, entries: readonly EntryOf<typeof TransferImported>[]): Promise<void> {
    for (const entry of entries) await insertImported(tx, cashflowOf(entry));
  },
};

const ACTIONS: Partial<Readonly<Record<MovementKind, ImportedCashflow["action"]>>> = {
  [MovementKind.DEPOSIT]: "deposit",
  [MovementKind.WITHDRAWAL]: "withdraw",
};

function cashflowOf({ number, message }: EntryOf<typeof TransferImported>): ImportedCashflow {
  const { operationId, login, kind, amount, dealId, dealAt, comment } = message;
  const action = ACTIONS[kind];
  if (action === undefined || dealAt === undefined) throw new MalformedEntry(number, "it is no deposit or withdrawal");
  const { minor } = readEntry(number, () => moneyFromProto(amount));
  return { operationId, action, login, amountMinor: minor < 0n ? -minor : minor, comment, dealId, at: dealAt };
}

/** Keeps how far the withdrawals are whose callers have got no outcome, and has the recovery job record how they have ended. */
export function withdrawalsFeed({ settleWake }: Pick<Deps, "settleWake">) {
  return {
    feed: "subscription.withdrawals",
    events: [WithdrawalChanged],
    async receive(tx: Transaction, entries: readonly EntryOf<typeof WithdrawalChanged>[]): Promise<void> {
      const progress = new Map<string, Progress>();
      for (const { number, message } of entries) {
        const { operationId } = message;
        const { state, hasEnded } = progress.get(operationId) ?? { state: undefined, hasEnded: false };
        const isEnd = message.progress === WithdrawalProgress.ENDED;
        const reported = isEnd ? state : STATES[message.progress];
        if (!isEnd && reported === undefined) throw new MalformedEntry(number, "it names no progress");
        progress.set(operationId, { operationId, state: reported, hasEnded: hasEnded || isEnd });
      }
      await saveProgress(tx, [...progress.values()]);
      afterCommit(tx, settleWake.notify);
    },
  };
}

const STATES: Partial<Readonly<Record<WithdrawalProgress, WaitingState>>> = {
  [WithdrawalProgress.WAITING]: "WAITING",
  [WithdrawalProgress.RUNNING]: "RUNNING",
};
