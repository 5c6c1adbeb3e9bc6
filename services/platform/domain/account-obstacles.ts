import { HISTORY_WAITED_FOR, OUTCOME_WAITED_FOR, TURN_WAITED_FOR } from "#catalogue/busy-account.ts";
import { BUSY_RETRY_AFTER_MS, type Refusal } from "#kernel/values/refusal.ts";
import { refuse } from "../refusals.ts";
import type { LegNumber } from "./leg-number.ts";

/** A leg that has to end before another one of its login is sent. */
export type Obstacle = {
  readonly number: LegNumber;
  /** It was sent, and its outcome is being determined, by the service or in a manual review. */
  readonly isOutcomeOpen: boolean;
};

/** Why an account has no turn: an outcome that is not known yet takes minutes, everything else ends shortly. */
export function accountBusy(obstacle: Obstacle | undefined): Refusal {
  const operationId = obstacle === undefined ? undefined : String(obstacle.number);
  if (obstacle?.isOutcomeOpen === true) {
    return refuse("account_busy", OUTCOME_WAITED_FOR.message, { ...OUTCOME_WAITED_FOR.extra, operationId });
  }
  return refuse(
    "account_busy",
    "Another movement on this account is in progress, which ends within seconds. Nothing was executed. Send the request again in a second.",
    {
      outcome: "not_executed",
      operationId,
      retryAfterMs: BUSY_RETRY_AFTER_MS,
    },
  );
}

/** The account has its turn, and its facts cannot be read. */
export function factsNotRead(): Refusal {
  return refuse("account_busy", HISTORY_WAITED_FOR.message, HISTORY_WAITED_FOR.extra);
}

/** It is not known whether the account is free: the time was over before that. */
export function turnNotCome(): Refusal {
  return refuse("account_busy", TURN_WAITED_FOR.message, TURN_WAITED_FOR.extra);
}

/** Deals of the account are in no log yet, and one of them may be the same movement. */
export function historyNotRead(login: string): Refusal {
  return refuse(
    "account_busy",
    `The history of account ${login} cannot be read completely on the trading platform at the moment, and is read again by itself. Nothing was executed. Send the request again in a second; operators find what lasts longer in the breaks of the account.`,
    { outcome: "not_executed", details: { login }, retryAfterMs: BUSY_RETRY_AFTER_MS },
  );
}

/** The answer to an order on an account that the broker has archived or deleted, and to a request for its account lock. */
export function accountArchived(login: string): Refusal {
  return refuse(
    "account_archived",
    `The trading platform does not show account ${login} any more: the broker has archived or deleted it. Nothing was executed. It ends by itself when the broker restores the account.`,
    { outcome: "not_executed", details: { mt5_login: login } },
  );
}

/** The answer to an order on a stopped account whose caller waits, and to a request for its account lock. */
export function accountStopped(login: string): Refusal {
  return refuse(
    "safety_stop",
    `Account ${login} is stopped: money moved on it that no service requested, a decision lacks its votes, its group is not in USD with two digits, or its login has another account now. Nothing is executed until two operators have decided.`,
    { outcome: "not_executed", details: { login } },
  );
}
