export type Investor = {
  readonly id: bigint;
  readonly login: string;
  readonly name: string;
  readonly createdAt: Date;
};

/** The id of the command that registers it, or "". */
export type NewInvestor = Omit<Investor, "id"> & { readonly commandId: string };
