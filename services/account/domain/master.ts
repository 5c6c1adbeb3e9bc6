import type { Labels } from "#kernel/labels.ts";
import type { Money } from "#kernel/money.ts";

export type MasterTexts = {
  readonly name: string;
  readonly strategyName: string | undefined;
  readonly strategy: string | undefined;
};

export type Master = MasterTexts & {
  readonly id: bigint;
  readonly login: string;
  readonly paymentLogin: string;
  readonly minDeposit: Money;
  readonly createdAt: Date;
  readonly acceptingInvestors: boolean;
  /** When that was changed last, or the Master was registered. */
  readonly acceptingSince: Date;
};

/** A Master that accepts Investors. `commandId` is that of the command that registers it, or "". */
export type NewMaster = Omit<Master, "id" | "acceptingInvestors" | "acceptingSince"> & {
  readonly commandId: string;
  /** As in NewInvestor. */
  readonly labels: Labels | undefined;
};

/** Undefined keeps what is stored. */
export type MasterChange = {
  readonly name: string | undefined;
  readonly strategyName: string | undefined;
  readonly strategy: string | undefined;
  readonly minDeposit: Money | undefined;
  readonly acceptingInvestors: boolean | undefined;
};
