import type { Clock } from "#kernel/values/clock.ts";
import type { Client } from "#kernel/contract/contract.ts";
import type { Log } from "#kernel/process/log.ts";
import type { Pool } from "#kernel/postgres/pool.ts";
import type { FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";
import type { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { SubscriptionServiceService } from "#proto/pamm/subscription/v1/subscription.ts";
import type { CredentialCipher } from "./credential-cipher.ts";
import type { DirectoryReads } from "./store/directory-reads.ts";

type Platform = Client<PlatformServiceService>;

/** What the handlers of this service work with. */
export type Deps = {
  readonly pool: Pool;
  readonly reads: DirectoryReads;
  readonly platform: Pick<
    Platform,
    "createAccount" | "disableAccount" | "inspectAccounts" | "adoptAccount" | "inspectClosing" | "eraseAccount"
  >;
  readonly subscriptions: Pick<
    Client<SubscriptionServiceService>,
    "countActiveInvestors" | "findOpenSubscription" | "closeMaster" | "getClosing"
  >;
  readonly fees: Pick<Client<FeeServiceService>, "changePaymentAccount">;
  readonly credentialCipher: CredentialCipher;
  readonly newPassword: () => string;
  readonly log: Log;
  readonly now: Clock;
};
