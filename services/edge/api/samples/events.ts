import type { StoredEvent } from "../../events/store/events.ts";
import { AT } from "./values.ts";

const OPERATION = "0198c0de-0000-7000-8000-000000000001";

export function anEvent(own: Partial<StoredEvent> = {}): StoredEvent {
  return {
    id: 1_024n,
    key: "funding-77",
    type: "deposit.executed",
    state: "executed",
    subject: OPERATION,
    occurredAt: AT,
    login: "3000003",
    masterLogin: "",
    operationId: OPERATION,
    amountMinor: 250_50n,
    dealId: 1_234_567n,
    reason: "",
    ...own,
  };
}
