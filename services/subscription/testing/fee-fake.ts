import type { Client } from "#kernel/contract/contract.ts";
import type { ConfigureRequest, FeeServiceService } from "#proto/pamm/fee/v1/fee.ts";

/** Keeps what was configured, once per key, in the array. */
export function feeFake(configured: ConfigureRequest[]): Client<FeeServiceService> {
  const client = {
    async configure(request: ConfigureRequest) {
      if (!configured.some(({ key }) => key === request.key)) configured.push(request);
      const { key: _key, ...rest } = request;
      return { ...rest, createdAt: request.effectiveSince, updatedAt: request.effectiveSince };
    },
  };
  return client as unknown as Client<FeeServiceService>;
}
