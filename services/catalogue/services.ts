/** The services that call each other. */
export const SERVICE_NAMES = ["account", "edge", "fee", "funding", "platform", "subscription"] as const;
export type ServiceName = (typeof SERVICE_NAMES)[number];

/** The broker does not say who sends a request. Only the edge has to send requests over it. */
export const BROKER_CALLER: ServiceName = "edge";
