import type { Money } from "#kernel/money.ts";
import type { Refusal } from "#kernel/refusal.ts";

/** PENDING: the platform may have been asked. ACTIVE: everything exists. FAILED: refused for good; what existed is disabled. */
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
  readonly minDeposit: Money;
  readonly strategyName: string | undefined;
  readonly strategy: string | undefined;
};

export type Provisioning = NewProvisioning & {
  readonly id: bigint;
  readonly state: ProvisioningState;
  /** Of the trading or Investor account, once it is known. */
  readonly login: string | undefined;
  readonly paymentLogin: string | undefined;
  /** Id of the Master or Investor that it became. */
  readonly becameId: bigint | undefined;
  readonly refusal: Refusal | undefined;
  readonly createdAt: Date;
};

/** The accounts that a provisioning makes, in this order. */
export type ProvisionedRole = "trading" | "payment" | "investor";

export function rolesOf({ kind }: Pick<NewProvisioning, "kind">): readonly ProvisionedRole[] {
  return kind === "MASTER" ? ["trading", "payment"] : ["investor"];
}

/** Key under which platform creates the account, and owner of its passwords. */
export function provisioningKey({ id }: Pick<Provisioning, "id">, role: ProvisionedRole): string {
  return `account:${role}:${id}`;
}
