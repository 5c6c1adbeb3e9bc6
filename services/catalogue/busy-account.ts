import { type RefusalExtra } from "#kernel/values/refusal.ts";

/**
 * The refusal of whatever waits for an outcome that the platform has not answered: it is found in its history, after a quiet period of minutes. Callers
 * branch on the reason.
 */
export const OUTCOME_WAITED_FOR = {
  message:
    "The outcome of an earlier operation on this account is not known yet and is being determined, which can take some minutes. Nothing was executed.",
  extra: { outcome: "not_executed", details: { reason: "outcome_unknown" }, retryAfterMs: 30_000 },
} as const satisfies { readonly message: string; readonly extra: RefusalExtra };

export function waitsForOutcome({ details }: Pick<RefusalExtra, "details">): boolean {
  return details?.["reason"] === OUTCOME_WAITED_FOR.extra.details.reason;
}

/**
 * The refusal of a command on an account that no other one has, while the trading platform does not answer, or shows a balance that its deals do not
 * add up to. The reason is for services; callers need none.
 */
export const HISTORY_WAITED_FOR = {
  message:
    "The balance and the history of this account cannot be read completely on the trading platform at the moment, and are read again by themselves. Retry in some seconds; operators find what lasts longer in the reviews and breaks of the account. Nothing was executed.",
  extra: { outcome: "not_executed", details: { reason: "history_unread" } },
} as const satisfies { readonly message: string; readonly extra: RefusalExtra };

/** The refusal of a command whose time was over before it was looked whether its account is free. The reason is for services, as above. */
export const TURN_WAITED_FOR = {
  message:
    "So many requests came at the same time that this one did not begin before its time was over. Nothing was executed. Send the request again in a second.",
  extra: { outcome: "not_executed", details: { reason: "no_turn" } },
} as const satisfies { readonly message: string; readonly extra: RefusalExtra };

/** The message for a refusal that no other command is the reason of. A service that passes it on to callers leaves the reason out. */
export function waitsForNoCommand({
  details,
  message,
}: Pick<RefusalExtra, "details"> & { readonly message?: string }): string | undefined {
  const reasons = [HISTORY_WAITED_FOR, TURN_WAITED_FOR];
  return reasons.find(({ extra, message: own }) => extra.details.reason === details?.["reason"] || own === message)
    ?.message;
}
