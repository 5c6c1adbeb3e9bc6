import { Refusal } from "#kernel/refusal.ts";
import type { Client } from "#kernel/contract/contract.ts";
import { moneyToProto } from "#kernel/contract/money.ts";
import { usd } from "#kernel/money.ts";
import type {
  CollectRequest,
  ConfigureRequest,
  CrystalliseRequest,
  CrystalliseResponse,
  FeeServiceService,
  ListDueItemsRequest,
  PreviewCrystalliseRequest,
} from "#proto/pamm/fee/v1/fee.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { type PlatformServiceService, TransferState } from "#proto/pamm/platform/v1/platform.ts";
import { callContext } from "#kernel/contract/context.ts";

/** Amount in cents. */
export type Due = { readonly key: string; readonly amount: bigint; readonly isWeekly?: boolean };

export type FeeFake = {
  readonly client: Client<FeeServiceService>;
  readonly configured: ConfigureRequest[];
  readonly crystallised: Map<string, { readonly request: CrystalliseRequest; readonly response: CrystalliseResponse }>;
  /** The fees that an Investor owes; set by tests. */
  readonly rules: {
    due: (request: CrystalliseRequest) => readonly Due[];
    isDown: boolean;
    /** Collections leave their fees until it is empty. */
    archivedPaymentAccount: string;
  };
};

type World = {
  readonly platform: Client<PlatformServiceService>;
  readonly returnReserve: (key: string) => Promise<unknown>;
};

/** Wait budget of a transfer, below that of the tested command. */
const CALL_MS = 5_000;

/** A stand-in of the fee service; tests set the fees due. A key is crystallised once, and collected item by item. */
export function feeFake(world: World): FeeFake {
  const configured: ConfigureRequest[] = [];
  const crystallised: FeeFake["crystallised"] = new Map();
  const rules: FeeFake["rules"] = { due: () => [], isDown: false, archivedPaymentAccount: "" };
  const reach = (): void => {
    if (rules.isDown) throw new Refusal({ code: "service_unavailable", status: "unavailable", message: "down" });
  };
  const left = new Set<string>();
  const client = {
    async getWaitingFees() {
      reach();
      const { archivedPaymentAccount: login } = rules;
      const items = [...left].flatMap((key) => crystallised.get(key)?.response.items ?? []);
      if (login === "" || items.length === 0) return { amount: undefined, since: undefined, paymentAccountLogin: "" };
      const amount = items.reduce((sum, item) => sum + (item.amount?.minorUnits ?? 0n), 0n);
      return { amount: moneyToProto(usd(amount)), since: new Date(), paymentAccountLogin: login };
    },
    async configure(request: ConfigureRequest) {
      if (!configured.some(({ key }) => key === request.key)) configured.push(request);
      const { key: _key, ...rest } = request;
      return { ...rest, createdAt: request.effectiveSince, updatedAt: request.effectiveSince };
    },
    async prepare() {
      reach();
      return {};
    },
    async crystallise(request: CrystalliseRequest) {
      reach();
      const known = crystallised.get(request.key);
      if (known !== undefined) return known.response;
      const response = responseOf(rules.due(request));
      crystallised.set(request.key, { request, response });
      return response;
    },
    async previewCrystallise(request: PreviewCrystalliseRequest) {
      reach();
      return responseOf(rules.due({ ...request, key: "", subscriptionId: 0n, periodStart: undefined, suffix: "" }));
    },
    async listDueItems({ key }: ListDueItemsRequest) {
      reach();
      return { items: crystallised.get(key)?.response.items ?? [] };
    },
    async collect({ key, lockOwner }: CollectRequest) {
      reach();
      const found = crystallised.get(key);
      if (found === undefined) {
        throw new Refusal({ code: "crystallisation_not_found", status: "not_found", message: key });
      }
      if (rules.archivedPaymentAccount !== "") {
        left.add(key);
        return { collected: moneyToProto(usd(0n)) };
      }
      let collected = 0n;
      for (const item of found.response.items) {
        collected += await take(world, found.request.investorLogin, lockOwner, item);
      }
      return { collected: moneyToProto(usd(collected)) };
    },
  };
  return { client: client as unknown as Client<FeeServiceService>, configured, crystallised, rules };
}

function responseOf(due: readonly Due[]): CrystalliseResponse {
  const items = due.map(({ key, amount, isWeekly = false }) => ({ key, amount: moneyToProto(usd(amount)), isWeekly }));
  const pending = due.filter(({ isWeekly = false }) => !isWeekly).reduce((total, { amount }) => total + amount, 0n);
  return { pending: moneyToProto(usd(pending)), items };
}

/** A finally refused debit returns its reserve before the call returns. */
async function take(
  { platform, returnReserve }: World,
  login: string,
  lockOwner: string,
  { key, amount }: CrystalliseResponse["items"][number],
): Promise<bigint> {
  const legs = [{ login, kind: MovementKind.FEE_DEBIT, amount: moneyToProto(usd(-(amount?.minorUnits ?? 0n))) }];
  const rest = {
    upTo: { floor: moneyToProto(usd(0n)) },
    enqueue: false,
    comment: "",
    sendBefore: undefined,
    releaseLock: false,
  };
  const context = callContext({ caller: "fee", withinMs: CALL_MS });
  const result = await platform.transfer({ key, lockOwner, legs, ...rest }, context);
  if (result.state === TransferState.REFUSED) await returnReserve(key);
  return result.state === TransferState.APPLIED ? -(result.legs[0]?.amount?.minorUnits ?? 0n) : 0n;
}
