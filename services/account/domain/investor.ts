export type Investor = {
  readonly id: bigint;
  readonly login: string;
  readonly name: string;
  readonly createdAt: Date;
};

export type NewInvestor = Omit<Investor, "id">;
