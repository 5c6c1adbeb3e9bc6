import type { Labels } from "#kernel/labels.ts";

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
  readonly labels: Labels | undefined;
};
