import { PlatformServiceService } from "#proto/pamm/platform/v1/platform.ts";
import type { PlatformServiceService as PlatformContract } from "#proto/pamm/platform/v1/platform.ts";
import { remainingMs } from "../../../services/kernel/contract/context.ts";
import type { CallContext, Client } from "../../../services/kernel/contract/contract.ts";
import { outcomeUnknown, serviceUnavailable } from "../../../services/kernel/contract/refusals.ts";
import { feeFake } from "../../../services/subscription/testing/fee-fake.ts";
import { peopleFake } from "../../../services/subscription/testing/people-fake.ts";
import type { Network } from "./network.ts";
import type { PlatformProcess } from "./platform-process.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Others } from "./subscription-process.ts";

/** A client of the platform service as another process has it: the counterpart of kernel/grpc/client.ts. */
export function platformClient(network: Network<PlatformProcess>, process: SimulatedProcess): Client<PlatformContract> {
  const methods = Object.keys(PlatformServiceService).map((name) => {
    const call = async (request: unknown, context: CallContext): Promise<unknown> => {
      const outcome = await network.ask(process, Math.max(1, remainingMs(context)), ({ service }, own) => {
        const method = service[name as keyof PlatformContract] as (
          asked: unknown,
          context: CallContext,
        ) => Promise<unknown>;
        return method(request, own);
      });
      switch (outcome.kind) {
        case "answer":
          return outcome.value;
        case "refused":
          throw outcome.refusal;
        case "nobody":
          throw serviceUnavailable("platform");
        case "unknown":
          throw outcomeUnknown("platform");
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<PlatformContract>;
}

/** Who is who, and fees that nobody owes: what the other services would say. */
export function createNeighbours(masters: readonly string[], investors: readonly string[]): Omit<Others, "platform"> {
  const people = peopleFake();
  for (const login of masters) people.addMaster(login, 0n);
  for (const login of investors) people.addInvestor(login);
  const platform = {} as Client<PlatformContract>;
  const fees = feeFake({ platform, returnReserve: () => Promise.resolve({}) });
  return { accounts: people.client, fees: fees.client };
}
