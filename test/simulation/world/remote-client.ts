import { remainingMs } from "../../../services/kernel/contract/context.ts";
import type { CallContext, Client, Contract, Implementation, Permissions } from "#kernel/contract/contract.ts";
import type { ServiceName } from "#catalogue/services.ts";
import { notPermitted, outcomeUnknown, serviceUnavailable } from "../../../services/kernel/contract/refusals.ts";
import type { Network, Target } from "./network.ts";
import type { SimulatedProcess } from "./process.ts";

/** A process that answers the calls of a contract. */
export type Serving<C extends Contract> = Target & { readonly service: Implementation<C> };

export type Remote<C extends Contract> = {
  readonly name: string;
  readonly contract: C;
  readonly network: Network<Serving<C>>;
  readonly permissions: Permissions<C>;
};

type Method = (request: unknown, context: CallContext) => Promise<unknown>;

/** A client of a service as a process of another one has it: the counterpart of kernel/grpc/client.ts. */
export function remoteClient<C extends Contract>(
  { name: service, contract, network, permissions }: Remote<C>,
  process: SimulatedProcess,
  caller: ServiceName,
): Client<C> {
  const methods = Object.keys(contract).map((name) => {
    const isPermitted = permissions[name]?.includes(caller) === true;
    const call: Method = async (request, context) => {
      if (!isPermitted) throw notPermitted(`${service}.${name}`);
      const outcome = await network.call(
        process,
        Math.max(1, remainingMs(context)),
        (target, own) => (target.service[name] as unknown as Method)(request, own),
        context.commandId,
      );
      switch (outcome.kind) {
        case "answer":
          return outcome.value;
        case "refused":
          throw outcome.refusal;
        case "unreachable":
          throw serviceUnavailable(service);
        case "unknown":
          throw outcomeUnknown(service);
      }
    };
    return [name, call] as const;
  });
  return Object.fromEntries(methods) as unknown as Client<C>;
}
