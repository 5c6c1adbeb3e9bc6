import type { CallContext, Implementation } from "#kernel/contract/contract.ts";
import { refuse } from "#kernel/contract/refusals.ts";
import { countRefusedCall } from "#kernel/process/metrics.ts";
import type { FieldError } from "#kernel/values/refusal.ts";
import { MovementKind } from "#proto/pamm/platform/v1/movement.ts";
import { PlatformServiceService, type TransferRequest } from "#proto/pamm/platform/v1/platform.ts";
import { type Requester, requesterOf } from "./checks/requester.ts";
import type { Deps } from "./deps.ts";

/** The kinds of movements that each service requests. Reversals are requested by reviews of this service only. */
const KINDS: Readonly<Record<Requester, readonly MovementKind[]>> = {
  funding: [MovementKind.DEPOSIT],
  fee: [MovementKind.FEE_DEBIT, MovementKind.FEE_CREDIT],
  subscription: [MovementKind.WITHDRAWAL, MovementKind.MIRROR, MovementKind.EXIT, MovementKind.RESULT],
};
/** Errors of a batch that its refusal names. */
const MAX_ERRORS = 20;

type Service = Implementation<PlatformServiceService>;
type Method = "transfer" | "transferBatch" | "transferChain" | "hold" | "release";

/**
 * A service requests transfers under keys and of kinds of its own, and holds and releases account locks of its own: the permission
 * to call a method is not one to act for another service. The check of transfers finds what gets past this one.
 */
export function refuseForeign(service: Service, { log }: Pick<Deps, "log">): Service {
  const guarded =
    <Request, Response>(
      method: Method,
      call: (request: Request, context: CallContext) => Promise<Response>,
      foreignOf: (request: Request, context: CallContext) => readonly FieldError[],
    ) =>
    async (request: Request, context: CallContext): Promise<Response> => {
      const errors = foreignOf(request, context);
      if (errors.length === 0) return await call(request, context);
      const { path } = PlatformServiceService[method];
      countRefusedCall(path);
      log.error(
        "call refused, the caller has requested what belongs to another service, check its host and certificate",
        { caller: context.caller, method: path, reason: errors[0]?.message },
      );
      throw refuse("not_permitted", "The caller may only request transfers and account locks of its own.", {
        errors: errors.slice(0, MAX_ERRORS),
        outcome: "not_executed",
      });
    };
  return {
    ...service,
    transfer: guarded("transfer", service.transfer, (request, context) => foreignIn(request, "", context)),
    transferBatch: guarded("transferBatch", service.transferBatch, ({ requests }, context) =>
      requests.flatMap((request, index) => foreignIn(request, `requests.${index}.`, context)),
    ),
    transferChain: guarded("transferChain", service.transferChain, ({ requests }, context) =>
      requests.flatMap((request, index) => foreignInChain(request, `requests.${index}.`, context)),
    ),
    hold: guarded("hold", service.hold, ({ lockOwner }, context) => foreignLock(lockOwner, "", context)),
    release: guarded("release", service.release, ({ lockOwner }, context) => foreignLock(lockOwner, "", context)),
  };
}

function foreignIn(request: TransferRequest, path: string, context: CallContext): FieldError[] {
  const { key, legs, releaseLock, lockOwner } = request;
  const kinds = isRequester(context.caller) ? KINDS[context.caller] : [];
  return [
    ...foreign(requesterOf(key) === context.caller, `${path}key`, context),
    ...legs.flatMap(({ kind }, index) => foreign(kinds.includes(kind), `${path}legs.${index}.kind`, context)),
    ...(releaseLock ? foreignLock(lockOwner, path, context) : []),
  ];
}

/** A withdrawal or an exit has the fees debited that were decided with it, as `fee` has recorded them, under an account lock of its own. */
function foreignInChain(request: TransferRequest, path: string, context: CallContext): FieldError[] {
  const { key, lockOwner } = request;
  const isFee = requesterOf(key) === "fee";
  return [
    ...foreignIn(request, path, isFee ? { ...context, caller: "fee" } : context),
    ...foreignLock(lockOwner, path, context),
  ];
}

function foreignLock(lockOwner: string, path: string, context: CallContext): FieldError[] {
  return foreign(requesterOf(lockOwner) === context.caller, `${path}lock_owner`, context);
}

function foreign(isOwn: boolean, field: string, { caller }: CallContext): FieldError[] {
  return isOwn ? [] : [{ field, code: "not_permitted", message: `${field} is not one of ${caller}.` }];
}

function isRequester(caller: string): caller is Requester {
  return Object.hasOwn(KINDS, caller);
}
