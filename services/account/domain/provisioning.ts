import type { Refusal } from "#kernel/values/refusal.ts";

/** PENDING: platform may have been called. ACTIVE: all accounts exist. FAILED: refused finally; an account that exists is disabled. */
export type ProvisioningState = "PENDING" | "ACTIVE" | "FAILED";

export type NewProvisioning = {
  readonly operationId: string;
  readonly kind: "MASTER" | "INVESTOR";
  readonly firstName: string;
  readonly lastName: string;
  readonly name: string;
  readonly email: string;
  readonly platformGroup: string;
  readonly leverage: number;
  /** Cents. */
  readonly minDeposit: bigint;
  readonly strategyName: string | undefined;
  readonly strategy: string | undefined;
};

export type Provisioning = NewProvisioning & {
  readonly id: bigint;
  readonly state: ProvisioningState;
  /** Login of the trading or Investor account, once the trading platform has assigned it. */
  readonly login: string | undefined;
  readonly paymentLogin: string | undefined;
  /** Id of the created Master or Investor. */
  readonly becameId: bigint | undefined;
  readonly refusal: Refusal | undefined;
  readonly createdAt: Date;
};

/** The accounts that a provisioning creates, in this sequence. */
export type ProvisionedRole = "trading" | "payment" | "investor";

export function rolesOf({ kind }: Pick<NewProvisioning, "kind">): readonly ProvisionedRole[] {
  return kind === "MASTER" ? ["trading", "payment"] : ["investor"];
}

/**
 * Key under which platform creates the account, and owner of its credentials. It names the operation, because ids repeat after a restore
 * of the database: another request would then find the account of a lost one as its own.
 */
export function provisioningKey({ operationId }: Pick<Provisioning, "operationId">, role: ProvisionedRole): string {
  return `account:${role}:${operationId}`;
}
