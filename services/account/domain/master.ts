import { refuse } from "../refusals.ts";
import type { Profile } from "./profile.ts";

export type MasterTexts = {
  readonly name: string;
  readonly strategyName: string | undefined;
  readonly strategy: string | undefined;
};

export type Master = MasterTexts & {
  readonly id: bigint;
  readonly login: string;
  readonly paymentLogin: string;
  /** Cents. */
  readonly minDeposit: bigint;
  readonly createdAt: Date;
  readonly acceptingInvestors: boolean;
  /** When that was changed last, or the Master was registered. */
  readonly acceptingSince: Date;
};

/** A Master that accepts Investors. `commandId` is that of the command that registers it, or "". */
export type NewMaster = Omit<Master, "id" | "acceptingInvestors" | "acceptingSince"> & {
  readonly commandId: string;
  /** As in NewInvestor. */
  readonly profile: Profile | undefined;
};

type Fixed = "id" | "login" | "paymentLogin" | "createdAt" | "acceptingSince";
/** What an update can change; undefined keeps what is stored. */
export type MasterChange = { readonly [Field in Exclude<keyof Master, Fixed>]?: Master[Field] | undefined };

/** Where the closing of a Master is; undefined while none has begun. */
export type ClosingState = "closing" | "archived";

/** An archived Master does not change any more; of one that is being closed, what concerns later assignments. */
export function decideChange(login: string, change: MasterChange, closing: ClosingState | undefined): void {
  if (closing === undefined) return;
  const isForAssignments = change.acceptingInvestors === true;
  if (closing === "closing" && !isForAssignments) return;
  const why = closing === "closing" ? "is being closed" : "is archived";
  throw refuse("master_closed", `Master ${login} ${why}.`, { details: { state: closing }, outcome: "not_executed" });
}

export type Investor = {
  readonly id: bigint;
  readonly login: string;
  readonly name: string;
  readonly createdAt: Date;
};

/** `commandId` is that of the command that registers the Investor, or "". */
export type NewInvestor = Omit<Investor, "id"> & {
  readonly commandId: string;
  /** Undefined when the profile of the request becomes that of the account. */
  readonly profile: Profile | undefined;
};
