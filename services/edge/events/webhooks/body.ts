import { Event } from "../../api/schemas/event.ts";
import type { StoredEvent } from "../store/events.ts";
import { jsonInteger } from "../../wire/json-number.ts";

/** The same bytes in every attempt, as the convention has it: type, time and the event as the listing shows it. */
export function bodyOf(event: StoredEvent): string {
  const message = { type: event.type, timestamp: event.occurredAt.toISOString(), data: Event.of(event) };
  return JSON.stringify(message, (_name, value: unknown) => (typeof value === "bigint" ? jsonInteger(value) : value));
}
