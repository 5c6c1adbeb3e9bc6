/** In the order in which they are started; stopped the other way round. */
export const SERVICES = ["platform", "account", "funding", "subscription", "fee", "edge"] as const;
export type Service = (typeof SERVICES)[number];

export const LOOPBACK = "127.0.0.1";

export function databaseVariable(service: string): string {
  return `${service.toUpperCase()}_DATABASE_URL`;
}
